#pragma once
#include "device_new.h"

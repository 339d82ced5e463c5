#pragma once
#include "run.h"

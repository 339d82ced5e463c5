// The older name.
#pragma once
#include "cusparse.h"

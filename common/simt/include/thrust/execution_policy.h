// Every algorithm brings the policies.
#pragma once

#include "detail/run.h"

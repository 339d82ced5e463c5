// Thrust's own traits are not for programs; some include the header all the same.
#pragma once
#include <type_traits>

/* What the standard library's headers take to read is most of what a small file takes to compile. They are compiled
 * once, before the course's own C++ (common/build/rules.mk). Each file still includes what it uses: with another
 * compiler nothing is precompiled. */
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "request.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <variant>

namespace testing_ {
namespace {

using nlohmann::json;

Request& instance() {
  static Request request;
  return request;
}

// A place in the request, by the type that its value must have.
using Place = std::variant<std::string*, bool*, uint64_t*, std::vector<int>*, std::vector<std::string>*>;

std::map<std::string, Place> places(Request* r) {
  return {{"rung", &r->rung},
          {"checked", &r->checked},
          {"counting", &r->counting},
          {"made", &r->made},
          {"solution", &r->solution},
          {"counter", &r->counter},
          {"file", &r->file},
          {"worker", &r->worker},
          {"case", &r->wanted},
          {"variant", &r->variant},
          {"cases", &r->cases},
          {"todo", &r->todo},
          {"open_todos", &r->open_todos},
          {"as", &r->as},
          {"seed", &r->seed},
          {"events", &r->events},
          {"backend_shown", &r->backend_shown},
          {"ends_with_parent", &r->ends_with_parent},
          {"judged", &r->judged},
          {"timed", &r->timed},
          {"launched", &r->launched},
          {"without", &r->without},
          {"source", &r->source},
          {"course", &r->course},
          {"counted", &r->counted}};
}

}  // namespace

const Request& request() { return instance(); }

std::string read_request(const std::string& path) {
  std::ifstream file(path);
  if (!file) return path + ": there is no such request";
  const json object = json::parse(file, nullptr, false);
  if (!object.is_object()) return path + ": a request is one JSON object (common/testing/request.h)";
  const std::map<std::string, Place> known = places(&instance());
  for (const auto& [name, value] : object.items()) {
    const auto place = known.find(name);
    if (place == known.end()) return path + ": a request has no \"" + name + "\" (common/testing/request.h)";
    try {
      if (std::holds_alternative<uint64_t*>(place->second) && !value.is_number_unsigned())
        throw std::invalid_argument("");
      std::visit([&given = value](auto* to) { given.get_to(*to); }, place->second);
    } catch (const std::exception&) {
      return path + ": \"" + name + "\" cannot be " + value.dump() + " (common/testing/request.h)";
    }
  }
  if (instance().rung.empty()) return path + ": \"rung\" is missing, the built file that is to be tested";
  return "";
}

}  // namespace testing_

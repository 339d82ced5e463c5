#include "options.h"

#include <charconv>
#include <functional>

#include "error.h"
#include "types.h"

namespace bench {

const char* const usage = R"(usage: bench --worker PROGRAM --rung FILE.so --lab NAME --source NAME --results FILE.json
             --rows N --cols N | --matrix FILE.f32 --matrix-rows N --matrix-cols N [--rows N]
             [options]

Measures every variant of a rung, after holding its result against the reference, and puts the points into the results
file. With --checked it also counts the bytes that each variant moves.

  --worker PROGRAM         the worker that loads the rung: build/cpu/worker
  --rung FILE.so           the rung
  --lab NAME               lab02_smem, say
  --source NAME            solution, student or the path of a file
  --results FILE.json      points are appended, or replaced where they are there already
  --roofs FILE.json        what `roofs` printed; goes into the results file
  --command TEXT           what the results file names as its command
  --backend NAME           cpu (default) or cuda
  --machine NAME           what the results file names as its machine (default: processor and cores)
  --input NAME             normal (default), or the name of the matrix
  --rows N, --cols N       shape; with a matrix --rows takes its first N rows
  --k N                    for top-K (default 50; at most the columns are taken)
  --matrix FILE.f32        logits as raw little-endian float32, --matrix-rows by --matrix-cols
  --quadratic NAME=N ...   measures this variant on N rows only; other names are passed over
  --wrong NAME ...         leaves this variant out; other names are passed over
  --checked FILE.so        the rung's instrumented build: build/cpu/checked/PATH.so
  --counter PROGRAM        the worker that counts with it (default: --worker): build/cpu/worker, also with a GPU
  --topk-output PATH       writes what `online` for f32 returns: PATH.i32 (indices), PATH.f32

Status: 0 all right, 1 a variant is wrong or failed (the others are recorded), 2 an argument or a file is not usable.
)";

namespace {

int number(const std::string& text, const std::string& option, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    throw Error(option + " wants a whole number from 1 to " + std::to_string(most) + ", not '" + text + "'");
  }
  return value;
}

void check(const Options& options) {
  const std::pair<const char*, const std::string*> required[] = {{"--worker", &options.worker},
                                                                 {"--rung", &options.rung},
                                                                 {"--lab", &options.lab},
                                                                 {"--source", &options.source},
                                                                 {"--results", &options.results}};
  for (const auto& [name, value] : required) {
    if (value->empty()) throw Error(std::string(name) + " is missing; --help lists the options");
  }
  if (!options.checked.empty() && options.backend == "cuda" && options.counter.empty()) {
    throw Error("--checked on a GPU wants --counter, the executor's worker: build/cpu/worker");
  }
  if (options.backend != "cpu" && options.backend != "cuda") {
    throw Error("--backend is cpu or cuda, not '" + options.backend + "'");
  }
  if (options.backend == "cuda" && options.machine.empty())
    throw Error("--backend cuda wants --machine, the GPU's name");
  if (options.matrix.empty()) {
    if (options.input != "normal") throw Error("--input " + options.input + " wants its --matrix");
    if (!options.rows || !options.cols) throw Error("--rows and --cols are missing (or --matrix)");
  } else {
    if (options.input == "normal") throw Error("--matrix wants a name for its results: --input bigrams, say");
    if (!options.matrix_rows || !options.matrix_cols) throw Error("--matrix wants --matrix-rows and --matrix-cols");
    if (options.cols != options.matrix_cols) throw Error("--cols is not the matrix's --matrix-cols");
    if (options.rows > options.matrix_rows) throw Error("--rows is more than the matrix's --matrix-rows");
  }
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  constexpr int largest = 1 << 30;
  using Set = std::function<void(const std::string& value, const std::string& name)>;
  const auto text = [](std::string& to) -> Set { return [&to](auto& value, auto&) { to = value; }; };
  const auto integer = [](int& to, int most) -> Set {
    return [&to, most](auto& value, auto& name) { to = number(value, name, most); };
  };
  const std::map<std::string, Set> known = {
      {"--worker", text(options.worker)},
      {"--rung", text(options.rung)},
      {"--lab", text(options.lab)},
      {"--source", text(options.source)},
      {"--backend", text(options.backend)},
      {"--machine", text(options.machine)},
      {"--input", text(options.input)},
      {"--matrix", text(options.matrix)},
      {"--results", text(options.results)},
      {"--roofs", text(options.roofs)},
      {"--command", text(options.command)},
      {"--topk-output", text(options.topk_output)},
      {"--checked", text(options.checked)},
      {"--counter", text(options.counter)},
      {"--matrix-rows", integer(options.matrix_rows, largest)},
      {"--matrix-cols", integer(options.matrix_cols, largest)},
      {"--rows", integer(options.rows, largest)},
      {"--cols", integer(options.cols, largest)},
      {"--wrong", [&options](auto& value, auto&) { options.wrong.insert(value); }},
      {"--k", integer(options.k, rung::max_k)},
      {"--quadratic",
       [&options](auto& value, auto& name) {
         const size_t equals = value.find('=');
         if (equals == std::string::npos || equals == 0) throw Error(name + " wants NAME=ROWS, not '" + value + "'");
         options.quadratic[value.substr(0, equals)] = number(value.substr(equals + 1), name, largest);
       }},
  };

  const auto is_option = [](const char* word) { return word[0] == '-' && word[1] == '-'; };
  for (int i = 1; i < argc;) {
    const std::string name = argv[i++];
    const auto option = known.find(name);
    if (option == known.end()) throw Error("unknown option '" + name + "'; --help lists the options");
    if (i == argc || is_option(argv[i])) throw Error(name + " wants a value");
    do {
      option->second(argv[i++], name);
    } while ((name == "--quadratic" || name == "--wrong") && i < argc && !is_option(argv[i]));
  }

  if (!options.matrix.empty()) {
    if (!options.rows) options.rows = options.matrix_rows;
    if (!options.cols) options.cols = options.matrix_cols;
  }
  check(options);
  if (options.counter.empty()) options.counter = options.worker;
  return options;
}

}  // namespace bench

// A verilated top module behind trisage_model.h: the kernel, or with TRISAGE_BENCH the benches of its modules. Compiled with
// TRISAGE_WAVES for FST waves, with TRISAGE_COVERAGE for coverage, with TRISAGE_CHECK_PATHS to look for combinational paths
// from the kernel's inputs to its outputs.
#include "trisage_model.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "verilated.h"
#ifdef TRISAGE_WAVES
#include "verilated_fst_c.h"
#endif
#ifdef TRISAGE_COVERAGE
#include "verilated_cov.h"
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kMostText = 4096;

// Thrown where Verilator's runtime would end the process.
struct Fatal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

// Each of these defines Top, its Pins and which one it is (kTop), set_clock, apply (inputs from the pins to the top), and
// before_edge and after_edge: what happens when inputs have settled, and when the clock has risen.
#ifdef TRISAGE_BENCH
#include "trisage_bench.h"
#else
#include "trisage_kernel.h"
#endif

struct trisage_model {
  VerilatedContext context;
  std::unique_ptr<Top> top;
  Pins pins{};
  uint64_t cycles = 0;
  std::string printed;  // in this clock
  std::string error;
#ifdef TRISAGE_WAVES
  std::unique_ptr<VerilatedFstC> waves;
  std::string waves_path;
  bool waves_broken = false;
#endif

  trisage_model(uint32_t fill, uint32_t seed) {
    context.threads(1);
    context.randReset(static_cast<int>(fill));
    context.randSeed(static_cast<int>(seed & 0x7fffffff) | 1);  // 0 would be a seed of the runtime's choice
    context.fatalOnError(false);
#ifdef TRISAGE_WAVES
    context.traceEverOn(true);
#endif
  }

  void start();
  bool clock();
  void dump() {
#ifdef TRISAGE_WAVES
    if (waves) waves->dump(context.time());
#endif
  }
  void print(const std::string &text) {
    if (printed.size() < kMostText) printed += text;
  }
};

namespace {

// The model that this thread evaluates: the receiver of what Verilator's runtime says.
thread_local trisage_model *current = nullptr;

class Current {
 public:
  explicit Current(trisage_model *model) : before(current) {
    current = model;
    Verilated::threadContextp(&model->context);
  }
  ~Current() { current = before; }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

 private:
  trisage_model *before;
};

std::string place(const char *file, int line, const char *text) {
  if (!file || !*file) return text;
  const char *name = std::strrchr(file, '/');
  return std::string(name ? name + 1 : file) + ':' + std::to_string(line) + ": " + text;
}

void say(const std::string &text) {
  if (current) {
    current->print(text);
  } else {
    std::fputs(text.c_str(), stderr);
  }
}

}  // namespace

int trisage_print(const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  const int length = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  say(text);
  return length;
}

void vl_finish(const char *file, int line, const char *) {
  say(place(file, line, "$finish was called\n"));
  Verilated::threadContextp()->gotFinish(true);
}

void vl_stop(const char *file, int line, const char *) {
  // The assertion's own text was printed before.
  if (current && current->printed.empty()) say(place(file, line, "$stop was called\n"));
  Verilated::threadContextp()->gotError(true);
  Verilated::threadContextp()->gotFinish(true);
}

void vl_fatal(const char *file, int line, const char *, const char *text) {
  throw Fatal(place(file, line, text));  // callers do not expect it to return
}

void vl_warn(const char *file, int line, const char *, const char *text) { say(place(file, line, text) + '\n'); }

#ifdef TRISAGE_WAVES
void trisage_waves_broken() {
  if (current) current->waves_broken = true;
}

namespace {

// Their header comes first in the file and is written last, when all else was.
bool has_header(const std::string &path) {
  unsigned char head[9]{};  // the kind of block, which is 0, and its length
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  const bool read = std::fread(head, sizeof head, 1, file) == 1;
  std::fclose(file);
  return read && head[sizeof head - 1] != 0;
}

}  // namespace
#endif

// ---- Clock -----------------------------------------------------------------------------------------------------------

void trisage_model::start() {
  Current here{this};
  top = std::make_unique<Top>(&context);
  set_clock(*top, false);
  apply(*top, pins);
  top->eval();
  after_edge(*top, pins);
}

bool trisage_model::clock() {
  if (!error.empty()) return false;
  Current here{this};
  try {
    // Inputs change with the falling edge, so that everything has settled, assertions' sampled values too, when the clock rises.
    apply(*top, pins);
    set_clock(*top, false);
    top->eval();
    before_edge(*top, pins);
    dump();
    context.timeInc(1);
    set_clock(*top, true);
    top->eval();
    dump();
    context.timeInc(1);
    ++cycles;
    after_edge(*top, pins);
  } catch (const std::exception &fatal) {
    error = printed + fatal.what();
  } catch (...) {
    error = printed + "an exception of unknown type";
  }
  if (error.empty() && (context.gotError() || context.gotFinish())) {
    error = printed.empty() ? "the simulation ended" : printed;
  }
  if (error.empty()) {
    if (!printed.empty()) std::fputs(printed.c_str(), stderr);  // a $display
    printed.clear();
    return true;
  }
  while (!error.empty() && error.back() == '\n') error.pop_back();
  return false;
}

// ---- The C interface -------------------------------------------------------------------------------------------------

EXPORT trisage_model_info trisage_model_describe(void) {
  trisage_model_info info{};
  info.abi = TRISAGE_MODEL_ABI;
  info.top = kTop;
#ifdef TRISAGE_WAVES
  info.waves = true;
#endif
#ifdef TRISAGE_COVERAGE
  info.coverage = true;
#endif
  info.verilator = Verilated::productVersion();
  return info;
}

EXPORT trisage_model *trisage_model_new(uint32_t fill, uint32_t seed) {
  try {
    auto model = std::make_unique<trisage_model>(fill, seed);
    model->start();
    return model.release();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}

EXPORT void trisage_model_free(trisage_model *model) {
  if (!model) return;
  Current here{model};
  trisage_model_waves_close(model);
  try {
    model->top->final();
  } catch (...) {
    // A failed model is ended all the same.
  }
  model->top.reset();
  current = nullptr;
  delete model;
}

EXPORT void *trisage_model_pins(trisage_model *model) { return &model->pins; }

EXPORT bool trisage_model_clock(trisage_model *model) { return model->clock(); }

EXPORT const char *trisage_model_error(trisage_model *model) { return model->error.c_str(); }

EXPORT uint64_t trisage_model_cycles(const trisage_model *model) { return model->cycles; }

EXPORT bool trisage_model_waves_open(trisage_model *model, const char *path) {
#ifdef TRISAGE_WAVES
  if (model->waves) return false;
  try {
    // The runtime does not say when the file cannot be made.
    std::FILE *file = std::fopen(path, "wb");
    if (!file) return false;
    std::fclose(file);
    Current here{model};
    auto waves = std::make_unique<VerilatedFstC>();
    model->top->trace(waves.get(), 99);
    waves->open(path);
    if (!waves->isOpen()) return false;
    model->waves = std::move(waves);
    model->waves_path = path;
    model->waves_broken = false;
    return true;
  } catch (...) {
    return false;
  }
#else
  (void)model;
  (void)path;
  return false;
#endif
}

EXPORT bool trisage_model_waves_close(trisage_model *model) {
#ifdef TRISAGE_WAVES
  if (!model->waves) return true;
  Current here{model};
  try {
    model->waves->close();
  } catch (...) {
    model->waves_broken = true;
  }
  model->waves.reset();
  return !model->waves_broken && has_header(model->waves_path);
#else
  (void)model;
  return true;
#endif
}

EXPORT bool trisage_model_coverage_write(trisage_model *model, const char *path) {
#ifdef TRISAGE_COVERAGE
  try {
    Current here{model};
    model->context.coveragep()->write(path);
    return true;
  } catch (...) {
    return false;
  }
#else
  (void)model;
  (void)path;
  return false;
#endif
}

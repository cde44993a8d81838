/* The sampling kernel, or the benches of its modules, under Verilator as plain C: pins, a clock, and little else.
 *
 * Every call takes a model made by trisage_model_new. A model may move between threads but is used by one at a time.
 * No call throws or aborts: a failed assertion of the RTL ends the run with an error text. */
#ifndef TRISAGE_MODEL_H
#define TRISAGE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever this header changes; a library of another version is refused. */
#define TRISAGE_MODEL_ABI 3

/* The top modules of which a library holds one. */
#define TRISAGE_TOP_KERNEL 0
#define TRISAGE_TOP_BENCH 1

/* Read ports: offs, idx0 to idx7, mem. Write ports: mem, out. */
#define TRISAGE_READ_PORTS 10
#define TRISAGE_WRITE_PORTS 2
#define TRISAGE_LINE_BYTES 64

/* AXI4 read channels of a master. "out" is driven by the kernel, "in" by the memory. */
typedef struct {
  uint64_t araddr;                        /* out */
  uint8_t arvalid, arid, arlen;           /* out */
  uint8_t arsize, arburst;                /* out */
  uint8_t rready;                         /* out */
  uint8_t arready;                        /* in */
  uint8_t rvalid, rid, rresp, rlast;      /* in */
  uint8_t rdata[TRISAGE_LINE_BYTES];      /* in; looked at while rvalid */
} trisage_read_pins;

/* AXI4 write channels of a master. */
typedef struct {
  uint64_t awaddr;                        /* out */
  uint64_t wstrb;                         /* out */
  uint8_t awvalid, awid, awlen;           /* out */
  uint8_t awsize, awburst;                /* out */
  uint8_t wvalid, wlast;                  /* out */
  uint8_t bready;                         /* out */
  uint8_t awready, wready;                /* in */
  uint8_t bvalid, bid, bresp;             /* in */
  uint8_t wdata[TRISAGE_LINE_BYTES];      /* out; filled while wvalid */
} trisage_write_pins;

/* The AXI4-Lite slave s_axi_control, reset and interrupt. */
typedef struct {
  uint32_t awaddr, wdata, araddr;         /* in */
  uint8_t awvalid, wvalid, wstrb;         /* in */
  uint8_t bready, arvalid, rready;        /* in */
  uint8_t rst_n;                          /* in */
  uint32_t rdata;                         /* out */
  uint8_t awready, wready, bvalid, bresp; /* out */
  uint8_t arready, rvalid, rresp;         /* out */
  uint8_t interrupt;                      /* out */
} trisage_control_pins;

typedef struct {
  trisage_control_pins control;
  trisage_read_pins read[TRISAGE_READ_PORTS];
  trisage_write_pins write[TRISAGE_WRITE_PORTS];
} trisage_pins;

/* The benches of single modules (hw/bench): one of them, its inputs and its outputs as words whose meaning is its own. */
#define TRISAGE_BENCH_WORDS 128
typedef struct {
  uint32_t bench;                         /* in; the others are in reset */
  uint32_t rst_n;                         /* in */
  uint32_t inputs[TRISAGE_BENCH_WORDS];   /* in */
  uint32_t outputs[TRISAGE_BENCH_WORDS];  /* out; as it stood before the last edge, with the inputs of that cycle */
} trisage_bench_pins;

/* Properties fixed when the model was compiled. */
typedef struct {
  uint32_t abi;
  uint32_t top; /* TRISAGE_TOP_* */
  bool waves;
  bool coverage;
  const char *verilator; /* the simulator's version string */
} trisage_model_info;

typedef struct trisage_model trisage_model;

trisage_model_info trisage_model_describe(void);

/* A model in reset, clock low. Registers without a reset value start as `fill` says: 0 zeros, 1 ones, 2 random by `seed`.
 * NULL when there is no memory. */
trisage_model *trisage_model_new(uint32_t fill, uint32_t seed);
void trisage_model_free(trisage_model *model);

/* The pins, trisage_pins or trisage_bench_pins by the top module; valid as long as the model. "in" members are read at the next
 * clock, "out" members hold what stood there after the last one, if nothing else is said. */
void *trisage_model_pins(trisage_model *model);

/* One clock cycle: takes the inputs, gives a rising edge, fills the outputs. False once an assertion has failed or the RTL
 * called $finish; the text is then in trisage_model_error. */
bool trisage_model_clock(trisage_model *model);

/* The error text of a failed clock, else the empty string. Valid until the next call. */
const char *trisage_model_error(trisage_model *model);

/* Clock cycles since the model was made. */
uint64_t trisage_model_cycles(const trisage_model *model);

/* Writes waves (FST) to `path` from here on. False when the model was compiled without waves or the file cannot be made. */
bool trisage_model_waves_open(trisage_model *model, const char *path);

/* Ends the waves, if any are written. False when the file is not whole: a full disk. */
bool trisage_model_waves_close(trisage_model *model);

/* Writes coverage data to `path`. False when the model was compiled without coverage. */
bool trisage_model_coverage_write(trisage_model *model, const char *path);

#ifdef __cplusplus
}
#endif
#endif

/* Included before every other source of a model: what Verilator's runtime would print goes to the model that is clocked. */
#ifndef TRISAGE_PRINT_H
#define TRISAGE_PRINT_H

int trisage_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define VL_PRINTF trisage_print
/* trisage_model.cpp defines these in Verilator's place. */
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_WARN

/* The writer of waves checks that it is where it should be in its file, which it is not once the disk is full, and aborts:
 * its file of checks, read here before it is, has this check replaced. */
#if defined(TRISAGE_WAVES) && __has_include("fstcpp/fstcpp_assertion.h")
#include "fstcpp/fstcpp_assertion.h"
void trisage_waves_broken();
#undef FST_CHECK_EQ
#define FST_CHECK_EQ(a, b) \
  if ((a) != (b)) trisage_waves_broken();
#endif

#endif

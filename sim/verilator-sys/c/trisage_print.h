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

#endif

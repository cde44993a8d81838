/* A host program for XRT's C API, as small as can be: on each kernel it runs what is said on stdin, and prints what was
 * written. The prototypes are those of XRT's headers, which need not be installed.
 *
 *   host FLAGS < RUN       FLAGS: of the output buffers, as xrtBOAlloc takes them
 *
 * RUN has a line for each argument, in order: "4 VALUE" and "8 VALUE" for a scalar of so many bytes, "in HEX" for a buffer that is
 * copied to the card, "out BYTES" for one that is copied from it and printed. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void *handle;
#define FUNCTION(type, name, ...) static type (*name)(__VA_ARGS__)
FUNCTION(handle, xrtDeviceOpen, unsigned);
FUNCTION(int, xrtDeviceClose, handle);
FUNCTION(int, xrtDeviceLoadXclbinFile, handle, const char *);
FUNCTION(int, xrtDeviceGetXclbinUUID, handle, unsigned char *);
FUNCTION(handle, xrtPLKernelOpenExclusive, handle, const unsigned char *, const char *);
FUNCTION(int, xrtKernelClose, handle);
FUNCTION(int, xrtKernelArgGroupId, handle, int);
FUNCTION(int, xrtKernelReadRegister, handle, uint32_t, uint32_t *);
FUNCTION(handle, xrtBOAlloc, handle, size_t, uint64_t, uint32_t);
FUNCTION(int, xrtBOFree, handle);
FUNCTION(void *, xrtBOMap, handle);
FUNCTION(int, xrtBOSync, handle, int, size_t, size_t);
FUNCTION(handle, xrtRunOpen, handle);
FUNCTION(int, xrtRunSetArg, handle, int, ...);
FUNCTION(int, xrtRunStart, handle);
FUNCTION(int, xrtRunState, handle);
FUNCTION(int, xrtRunClose, handle);

#define CHECK(condition, what)                                                                                        \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "host: %s failed\n", what);                                                               \
            _exit(3); /* what XRT keeps may not be in a state to be taken down */                                      \
        }                                                                                                             \
    } while (0)

enum { KERNELS = 3, MOST_ARGS = 32, COMPLETED = 4, TO_DEVICE = 0, FROM_DEVICE = 1, SECONDS = 300 };

struct arg {
    char kind[8];
    unsigned long long value;
    size_t bytes;
    unsigned char *data;
};

static struct arg args[MOST_ARGS];

static int read_args(void)
{
    static char line[1 << 20];
    int count = 0;
    while (fgets(line, sizeof line, stdin) != NULL && count < MOST_ARGS) {
        struct arg *arg = &args[count++];
        char *value = strchr(line, ' ');
        CHECK(value != NULL && value - line < (long)sizeof arg->kind, "reading an argument");
        memcpy(arg->kind, line, (size_t)(value - line));
        value[strcspn(value, "\n")] = '\0';
        value++;
        if (strcmp(arg->kind, "in") != 0) {
            arg->value = strtoull(value, NULL, 10);
            arg->bytes = (size_t)arg->value;
            continue;
        }
        arg->bytes = strlen(value) / 2;
        arg->data = malloc(arg->bytes + 1);
        for (size_t at = 0; at < arg->bytes; at++) sscanf(value + 2 * at, "%2hhx", &arg->data[at]);
    }
    return count;
}

#define FIND(name) CHECK(((name) = dlsym(library, #name)) != NULL, "finding " #name)

static void find_functions(void)
{
    void *library = dlopen("libxrt_coreutil.so.2", RTLD_NOW | RTLD_GLOBAL);
    CHECK(library != NULL, "loading libxrt_coreutil.so.2");
    FIND(xrtDeviceOpen); FIND(xrtDeviceClose); FIND(xrtDeviceLoadXclbinFile); FIND(xrtDeviceGetXclbinUUID);
    FIND(xrtPLKernelOpenExclusive); FIND(xrtKernelClose); FIND(xrtKernelArgGroupId); FIND(xrtKernelReadRegister);
    FIND(xrtBOAlloc); FIND(xrtBOFree); FIND(xrtBOMap); FIND(xrtBOSync);
    FIND(xrtRunOpen); FIND(xrtRunSetArg); FIND(xrtRunStart); FIND(xrtRunState); FIND(xrtRunClose);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "reading FLAGS");
    uint64_t flags = strtoull(argv[1], NULL, 0);
    int count = read_args();
    find_functions();
    handle device = xrtDeviceOpen(0);
    CHECK(device != NULL, "opening the device");
    CHECK(xrtDeviceLoadXclbinFile(device, getenv("TRISAGE_XCLBIN")) == 0, "loading the xclbin");
    unsigned char uuid[16];
    CHECK(xrtDeviceGetXclbinUUID(device, uuid) == 0, "reading the uuid");

    handle kernels[KERNELS], runs[KERNELS], buffers[KERNELS][MOST_ARGS];
    void *maps[KERNELS][MOST_ARGS];
    for (int k = 0; k < KERNELS; k++) {
        char name[64];
        snprintf(name, sizeof name, "trisage_sampler:{trisage_sampler_%d}", k + 1);
        kernels[k] = xrtPLKernelOpenExclusive(device, uuid, name);
        CHECK(kernels[k] != NULL, "opening a kernel");
        runs[k] = xrtRunOpen(kernels[k]);
        CHECK(runs[k] != NULL, "opening a run");
        for (int a = 0; a < count; a++) {
            const struct arg *arg = &args[a];
            buffers[k][a] = NULL;
            int set;
            if (arg->kind[0] == '4') {
                set = xrtRunSetArg(runs[k], a, (uint32_t)arg->value);
            } else if (arg->kind[0] == '8') {
                set = xrtRunSetArg(runs[k], a, (uint64_t)arg->value);
            } else {
                int group = xrtKernelArgGroupId(kernels[k], a);
                CHECK(group >= 0, "asking for the memory of an argument");
                size_t bytes = (arg->bytes + 4096) & ~(size_t)4095;
                handle buffer = xrtBOAlloc(device, bytes, arg->data == NULL ? flags : 0, (uint32_t)group);
                CHECK(buffer != NULL, "allocating a buffer");
                maps[k][a] = xrtBOMap(buffer);
                CHECK(maps[k][a] != NULL, "mapping a buffer");
                memset(maps[k][a], 0, bytes);
                if (arg->data != NULL) memcpy(maps[k][a], arg->data, arg->bytes);
                CHECK(xrtBOSync(buffer, TO_DEVICE, bytes, 0) == 0, "copying to the card");
                buffers[k][a] = buffer;
                set = xrtRunSetArg(runs[k], a, buffer);
            }
            CHECK(set == 0, "setting an argument");
        }
    }

    /* Twice, as a kernel has to be ready for another run. */
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < KERNELS; k++) CHECK(xrtRunStart(runs[k]) == 0, "starting a run");
        time_t begin = time(NULL);
        for (int k = 0; k < KERNELS; k++)
            while (xrtRunState(runs[k]) != COMPLETED) CHECK(time(NULL) - begin < SECONDS, "waiting for a run");
    }

    for (int k = 0; k < KERNELS; k++) {
        uint32_t identity = 0, config = 0;
        CHECK(xrtKernelReadRegister(kernels[k], 0x180, &identity) == 0, "reading a register");
        CHECK(xrtKernelReadRegister(kernels[k], 0x184, &config) == 0, "reading a register");
        printf("%08x %08x\n", identity, config);
        for (int a = 0; a < count; a++) {
            if (buffers[k][a] == NULL) continue;
            if (args[a].data == NULL) {
                CHECK(xrtBOSync(buffers[k][a], FROM_DEVICE, args[a].bytes, 0) == 0, "copying from the card");
                for (size_t at = 0; at < args[a].bytes; at++) printf("%02x", ((unsigned char *)maps[k][a])[at]);
                printf("\n");
            }
        }
    }
    for (int k = 0; k < KERNELS; k++) {
        CHECK(xrtRunClose(runs[k]) == 0, "closing a run");
        for (int a = 0; a < count; a++)
            if (buffers[k][a] != NULL) CHECK(xrtBOFree(buffers[k][a]) == 0, "freeing a buffer");
        CHECK(xrtKernelClose(kernels[k]) == 0, "closing a kernel");
    }
    CHECK(xrtDeviceClose(device) == 0, "closing the device");
    return 0;
}

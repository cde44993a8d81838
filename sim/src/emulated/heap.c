/* Works around a fault of XRT 2.13 as Debian builds it: libxrt_swemu grows the buffer of its messages with realloc and then
 * still writes to where it was, which destroys the heap as soon as an xclbin is loaded. Preloaded, this gives that library
 * buffers that need not grow: what it asks malloc for has 9 MiB at least (its longest message has 8 MiB and a header), and
 * what fits stays where it is. Nobody else's memory is touched. Only XRT's software emulation needs it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static const size_t ROOM = (size_t)9 << 20;
/* Where the library's code lies, once it has been loaded. */
static uintptr_t begin, end;

static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, "libxrt_swemu.so") == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        begin = info->dlpi_addr + part->p_vaddr;
        __atomic_store_n(&end, begin + part->p_memsz, __ATOMIC_RELEASE);
    }
    return 1;
}

/* XRT loads the library by its full path, so that it does not matter who calls the real dlopen. */
__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *handle = real(name, flags);
    if (handle != NULL && name != NULL && strstr(name, "libxrt_swemu") != NULL) dl_iterate_phdr(look, NULL);
    return handle;
}

/* Whether a caller is of that library. */
int trisage_is_swemu(const void *caller)
{
    uintptr_t limit = __atomic_load_n(&end, __ATOMIC_ACQUIRE);
    return (uintptr_t)caller < limit && (uintptr_t)caller >= begin;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    if (bytes < ROOM && trisage_is_swemu(__builtin_return_address(0))) bytes = ROOM;
    return __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes)
{
    if (memory != NULL && bytes != 0 && trisage_is_swemu(__builtin_return_address(0)) && bytes <= malloc_usable_size(memory))
        return memory;
    return __libc_realloc(memory, bytes);
}

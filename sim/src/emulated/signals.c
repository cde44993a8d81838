/* Keeps signals away from what XRT 2.13 starts for its software emulation. A signal that is for a command reaches all processes
 * of its group. XRT's card would end by it, for which XRT ends its whole group; a "chmod" that XRT runs would end by it, of which
 * XRT makes exit code 1; and while that runs, system(3) ignores SIGINT, so that the command never hears of it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Of heap.c. */
int trisage_is_swemu(const void *caller);

static const int HELD[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { HELDS = sizeof HELD / sizeof HELD[0] };

/* Forks a process that ignores what ends a command, from its first instruction on. So do those that it starts; a signal that was
 * only blocked would reach them, as a shell blocks none. */
static pid_t sheltered_fork(void)
{
    pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    sigset_t held, before;
    sigemptyset(&held);
    for (int i = 0; i < HELDS; i++) sigaddset(&held, HELD[i]);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    pid_t child = real();
    if (child == 0) {
        struct sigaction ignore = {.sa_handler = SIG_IGN};
        for (int i = 0; i < HELDS; i++) sigaction(HELD[i], &ignore, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

__attribute__((visibility("default"))) pid_t fork(void)
{
    if (trisage_is_swemu(__builtin_return_address(0))) return sheltered_fork();
    pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    return real();
}

__attribute__((visibility("default"))) int system(const char *command)
{
    if (command == NULL || !trisage_is_swemu(__builtin_return_address(0))) {
        int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "system");
        return real(command);
    }
    pid_t shell = sheltered_fork();
    if (shell < 0) return -1;
    if (shell == 0) {
        char *const words[] = {"sh", "-c", (char *)command, NULL};
        execve("/bin/sh", words, environ);
        _exit(127);
    }
    int status;
    while (waitpid(shell, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

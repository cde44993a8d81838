/* Keeps signals away from what XRT 2.13 starts for its software emulation. A signal that is for a command reaches all processes
 * of its group. XRT's card would end by it, for which XRT ends its whole group; a "chmod" that XRT runs would end by it, of which
 * XRT makes exit code 1; and while that runs, system(3) ignores SIGINT, so that the command never hears of it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

extern char **environ;

/* Of heap.c. */
int trisage_is_swemu(const void *caller);

/* Blocks what ends a command: what is started now has it blocked from the beginning. */
static void hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

__attribute__((visibility("default"))) pid_t fork(void)
{
    pid_t (*real)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    sigset_t before;
    if (!trisage_is_swemu(__builtin_return_address(0))) return real();
    hold(&before);
    pid_t child = real();
    if (child != 0) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

__attribute__((visibility("default"))) int system(const char *command)
{
    char *const words[] = {"sh", "-c", (char *)command, NULL};
    sigset_t before;
    pid_t shell;
    int refused, status;
    if (command == NULL || !trisage_is_swemu(__builtin_return_address(0))) {
        int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "system");
        return real(command);
    }
    hold(&before);
    refused = posix_spawn(&shell, "/bin/sh", NULL, NULL, words, environ);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (refused != 0) {
        errno = refused;
        return -1;
    }
    while (waitpid(shell, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

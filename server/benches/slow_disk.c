/* A disk on which making something durable takes longer: for `LD_PRELOAD`, before the desk, the yardstick and PostgreSQL.
 *
 *     cc -O2 -shared -fPIC -o slow_disk.so server/benches/slow_disk.c -ldl
 *     SYNC_US=5000 LD_PRELOAD=$PWD/slow_disk.so cargo bench -p server --bench hold
 *
 * Every fsync and fdatasync takes SYNC_US microseconds more than it does by itself (5,000 when that is not set), as on a
 * disk that has to turn or a volume behind a network. Whoever measures commits against commits measures both on it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_for_the_disk(void) {
    const char *text = getenv("SYNC_US");
    long us = text ? atol(text) : 5000;
    struct timespec left = { us / 1000000, us % 1000000 * 1000 };
    while (nanosleep(&left, &left) != 0) {}
}

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
    wait_for_the_disk();
    return real(file);
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
    wait_for_the_disk();
    return real(file);
}

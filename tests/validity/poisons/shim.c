/* Lets a test step the wall clock of a program, and make its name lookups slow or fail, while the program runs.
 *
 * The file named by VALIDITY_SHIM is mapped: three doubles, namely by how many seconds the wall clock is ahead, how
 * many seconds a lookup takes longer, and whether lookups fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct state {
    double step, delay, fails;
};

static const struct state nothing;
static const volatile struct state *state = &nothing;

static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

__attribute__((constructor)) static void open_state(void)
{
    const char *path = getenv("VALIDITY_SHIM");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(struct state), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        state = mapped;
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    if (!real_clock)
        real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real_clock(which, now);
    if (!failed && which == CLOCK_REALTIME && state->step != 0) {
        double step = state->step;
        long long nanoseconds = now->tv_nsec + (long long)(step * 1e9);
        long long seconds = nanoseconds / 1000000000LL, rest = nanoseconds % 1000000000LL;
        if (rest < 0) {
            rest += 1000000000LL;
            seconds -= 1;
        }
        now->tv_sec += seconds;
        now->tv_nsec = rest;
    }
    return failed;
}

time_t time(time_t *where)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where)
        *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *where, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    where->tv_sec = now.tv_sec;
    where->tv_usec = now.tv_nsec / 1000;
    return 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    if (!real_lookup)
        real_lookup = (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(
            RTLD_NEXT, "getaddrinfo");
    int numeric = hints && (hints->ai_flags & AI_NUMERICHOST);
    if (!numeric && state->delay > 0)
        usleep((useconds_t)(state->delay * 1e6));
    if (!numeric && state->fails != 0)
        return EAI_AGAIN;
    return real_lookup(node, service, hints, found);
}

/* A stand-in for libnvidia-ml.so.1, as far as the exporter calls it. It does what a script file says, so that one changes
 * the machine by rewriting the file: whether it has changed is looked at when the library is opened, asked how many
 * devices there are, asked for a device, and waited upon for events; not at every field, which would cost more than the
 * answer.
 *
 *   NVML_STANDIN_SCRIPT  lines `[@<seconds>] <owner>.<field> <verb> <arguments>`
 *   NVML_STANDIN_CALLS   optional: one line `<owner>.<field>` is appended for every call
 *
 * Owners are `system`, a device's index, or `<index>m<n>` for the nth MIG device of a device. A line with `@` holds from
 * that many seconds after the script was read; of the lines that hold, the last one wins. Verbs:
 *
 *   value <v>                     error <code>                   hang <seconds> <v>
 *   wave <mean> <amplitude> <period seconds>                     count <start> <per second>
 *
 * A field that no line names answers NOT_SUPPORTED. `<index>.xid value <code>` with `@` is an event at that time; any
 * number of them may stand in a script. `processes` are words `<pid>:<bytes>` or `<pid>:-` where memory is not told. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
    TIMEOUT = 10, VERSION_MISMATCH = 25, UNKNOWN = 999,
};
enum { DEVICES = 16, MIGS = 8, LINES = 4096, BUCKETS = 1024, KEY = 48, VALUE = 224 };
enum { XID_EVENT = 8, FIELD_MEMORY_TEMPERATURE = 82, FIELD_NVLINK_SENT = 138, FIELD_NVLINK_RECEIVED = 139 };

/* Whoever loads the library can see that it is not the driver's. */
const char *nvmlStandin(void) { return "stand-in"; }

struct owner { char name[16]; int index; };
typedef struct owner *device;
static struct owner SYSTEM = {"system", -1};
static struct owner devices[DEVICES], migs[DEVICES][MIGS];

struct line { double at; char key[KEY], verb[8], value[VALUE]; int next, delivered; };
static struct line lines[LINES];
static int buckets[BUCKETS], used = 0, scripted = 0, initialised = 0;
static struct timespec modified;
static ino_t inode;
static double began;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned hash(const char *key) {
    unsigned h = 5381;
    while (*key) h = h * 33 + (unsigned char)*key++;
    return h % BUCKETS;
}

/* Later lines stand before earlier ones in a bucket, so that the first that holds is the last of the file. */
static void read_script(FILE *file) {
    char text[512];
    used = 0;
    memset(buckets, -1, sizeof buckets);
    while (used < LINES && fgets(text, sizeof text, file)) {
        struct line *l = &lines[used];
        char *rest = text;
        l->at = text[0] == '@' ? strtod(text + 1, &rest) : 0;
        l->value[0] = 0, l->delivered = 0;
        if (sscanf(rest, "%47s %7s %223[^\n]", l->key, l->verb, l->value) < 2) continue;
        unsigned h = hash(l->key);
        l->next = buckets[h];
        buckets[h] = used++;
    }
    began = now();
}

/* With the lock held. */
static void refresh(void) {
    struct stat s;
    const char *path = getenv("NVML_STANDIN_SCRIPT");
    scripted = path && !stat(path, &s);
    if (!scripted || (s.st_ino == inode && !memcmp(&s.st_mtim, &modified, sizeof modified))) return;
    FILE *file = fopen(path, "r");
    scripted = file != NULL;
    if (!file) return;
    read_script(file);
    fclose(file);
    inode = s.st_ino, modified = s.st_mtim;
}

static void look(void) {
    pthread_mutex_lock(&lock);
    refresh();
    pthread_mutex_unlock(&lock);
}

static void note(device d, const char *field) {
    const char *path = getenv("NVML_STANDIN_CALLS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s.%s\n", d->name, field);
    fclose(file);
}

static int answer(const struct line *l, char *text, size_t size, double *hang) {
    double a = 0, b = 0, c = 1, elapsed = now() - began;
    if (!strcmp(l->verb, "error")) return atoi(l->value);
    if (!strcmp(l->verb, "hang")) {
        char *shown = (char *)l->value;
        *hang = strtod(l->value, &shown);
        while (*shown == ' ') shown++;
        snprintf(text, size, "%s", shown);
    } else if (!strcmp(l->verb, "wave")) {
        sscanf(l->value, "%lf %lf %lf", &a, &b, &c);
        snprintf(text, size, "%.0f", fmax(0, a + b * sin(elapsed * 2 * M_PI / c)));
    } else if (!strcmp(l->verb, "count")) {
        sscanf(l->value, "%lf %lf", &a, &b);
        snprintf(text, size, "%.0f", a + b * elapsed);
    } else {
        snprintf(text, size, "%s", l->value);
    }
    return SUCCESS;
}

static int ask(device d, const char *field, char *text, size_t size) {
    char key[KEY + 16];
    double hang = 0;
    int result = NOT_SUPPORTED;
    note(d, field);
    snprintf(key, sizeof key, "%s.%s", d->name, field);
    pthread_mutex_lock(&lock);
    if (!scripted) {
        result = UNKNOWN;
    } else {
        double elapsed = now() - began;
        int i = buckets[hash(key)];
        while (i >= 0 && (strcmp(lines[i].key, key) || lines[i].at > elapsed)) i = lines[i].next;
        if (i >= 0) result = answer(&lines[i], text, size, &hang);
    }
    pthread_mutex_unlock(&lock);
    if (hang > 0) usleep((useconds_t)(1e6 * hang));
    return result;
}

static int number(device d, const char *field, unsigned long long *value) {
    char text[VALUE];
    int result = initialised ? ask(d, field, text, sizeof text) : UNINITIALIZED;
    if (result == SUCCESS) *value = strtoull(text, NULL, 10);
    return result;
}

static int number32(device d, const char *field, unsigned *value) {
    unsigned long long wide = 0;
    int result = number(d, field, &wide);
    if (result == SUCCESS) *value = (unsigned)wide;
    return result;
}

int nvmlInitWithFlags(unsigned flags) {
    char text[VALUE];
    (void)flags;
    for (int i = 0; i < DEVICES; i++) {
        snprintf(devices[i].name, sizeof devices[i].name, "%d", i), devices[i].index = i;
        for (int n = 0; n < MIGS; n++) {
            snprintf(migs[i][n].name, sizeof migs[i][n].name, "%dm%d", i, n), migs[i][n].index = i;
        }
    }
    look();
    int result = ask(&SYSTEM, "init", text, sizeof text);
    initialised = result == SUCCESS;
    return result;
}

int nvmlShutdown(void) {
    note(&SYSTEM, "shutdown");
    if (!initialised) return UNINITIALIZED;
    initialised = 0;
    return SUCCESS;
}

const char *nvmlErrorString(int code) {
    static _Thread_local char text[32];
    snprintf(text, sizeof text, "error %d", code);
    return text;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) { return ask(&SYSTEM, "driver", text, size); }
int nvmlSystemGetNVMLVersion(char *text, unsigned size) { return ask(&SYSTEM, "nvml", text, size); }

int nvmlSystemGetProcessName(unsigned pid, char *text, unsigned size) {
    char field[32];
    snprintf(field, sizeof field, "process_%u", pid);
    return ask(&SYSTEM, field, text, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    unsigned long long value = 0;
    int result = number(&SYSTEM, "cuda", &value);
    *version = (int)value;
    return result;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    look();
    return number32(&SYSTEM, "devices", count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d) {
    char text[VALUE];
    if (index >= DEVICES) return INVALID_ARGUMENT;
    *d = &devices[index];
    look();
    int result = ask(*d, "handle", text, sizeof text);
    return result == NOT_SUPPORTED ? SUCCESS : result;
}

int nvmlDeviceGetUUID(device d, char *text, unsigned size) { return ask(d, "uuid", text, size); }
int nvmlDeviceGetName(device d, char *text, unsigned size) { return ask(d, "name", text, size); }

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };

int nvmlDeviceGetPciInfo_v3(device d, struct pci *pci) { return ask(d, "bus_id", pci->bus_id, sizeof pci->bus_id); }

struct memory_v1 { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };

int nvmlDeviceGetMemoryInfo(device d, struct memory_v1 *m) {
    unsigned long long reserved = 0;
    int result = number(d, "memory_v1", &m->total);
    if (result != SUCCESS) return result;
    number(d, "memory_used", &m->used);
    number(d, "memory_reserved", &reserved);
    m->used += reserved;
    m->free = m->total - m->used;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(device d, struct memory_v2 *m) {
    int result = m->version == 0x02000028 ? number(d, "memory_v2", &m->total) : VERSION_MISMATCH;
    if (result != SUCCESS) return result;
    number(d, "memory_used", &m->used);
    number(d, "memory_reserved", &m->reserved);
    m->free = m->total - m->used - m->reserved;
    return SUCCESS;
}

struct bar1 { unsigned long long total, free, used; };

int nvmlDeviceGetBAR1MemoryInfo(device d, struct bar1 *m) {
    int result = number(d, "bar1_total", &m->total);
    if (result != SUCCESS) return result;
    number(d, "bar1_used", &m->used);
    m->free = m->total - m->used;
    return SUCCESS;
}

struct utilization { unsigned gpu, memory; };

int nvmlDeviceGetUtilizationRates(device d, struct utilization *u) {
    int result = number32(d, "utilization", &u->gpu);
    return result == SUCCESS ? number32(d, "memory_activity", &u->memory) : result;
}

int nvmlDeviceGetEncoderUtilization(device d, unsigned *percent, unsigned *period) {
    *period = 167000;
    return number32(d, "encoder", percent);
}
int nvmlDeviceGetDecoderUtilization(device d, unsigned *percent, unsigned *period) {
    *period = 167000;
    return number32(d, "decoder", percent);
}

int nvmlDeviceGetPowerUsage(device d, unsigned *mw) { return number32(d, "power", mw); }
int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw) { return number32(d, "power_limit", mw); }
int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj) { return number(d, "energy", mj); }
int nvmlDeviceGetTemperature(device d, int sensor, unsigned *celsius) {
    return sensor == 0 ? number32(d, "temperature", celsius) : INVALID_ARGUMENT;
}

static const char *THRESHOLDS[] = {"limit_shutdown", "limit_slowdown", "limit_memory", "limit_gpu"};

int nvmlDeviceGetTemperatureThreshold(device d, unsigned kind, unsigned *celsius) {
    return kind < 4 ? number32(d, THRESHOLDS[kind], celsius) : INVALID_ARGUMENT;
}

static const char *CLOCKS[] = {"clock_graphics", "clock_sm", "clock_memory", "clock_video"};
static const char *CLOCKS_MAX[] = {"clock_max_graphics", "clock_max_sm", "clock_max_memory", "clock_max_video"};

int nvmlDeviceGetClockInfo(device d, unsigned kind, unsigned *mhz) {
    return kind < 4 ? number32(d, CLOCKS[kind], mhz) : INVALID_ARGUMENT;
}
int nvmlDeviceGetMaxClockInfo(device d, unsigned kind, unsigned *mhz) {
    return kind < 4 ? number32(d, CLOCKS_MAX[kind], mhz) : INVALID_ARGUMENT;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *mask) {
    return number(d, "throttle_reasons", mask);
}
int nvmlDeviceGetPerformanceState(device d, int *state) { return number32(d, "performance_state", (unsigned *)state); }
int nvmlDeviceGetPcieThroughput(device d, unsigned counter, unsigned *kb) {
    return number32(d, counter == 0 ? "pcie_transmit" : "pcie_receive", kb);
}
int nvmlDeviceGetCurrPcieLinkWidth(device d, unsigned *lanes) { return number32(d, "pcie_lanes", lanes); }
int nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *lanes) { return number32(d, "pcie_lanes_max", lanes); }
int nvmlDeviceGetCurrPcieLinkGeneration(device d, unsigned *g) { return number32(d, "pcie_generation", g); }
int nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *g) { return number32(d, "pcie_generation_max", g); }

int nvmlDeviceGetTotalEccErrors(device d, int corrected, int lifetime, unsigned long long *count) {
    if (lifetime != 1) return INVALID_ARGUMENT;
    return number(d, corrected == 0 ? "ecc_corrected" : "ecc_uncorrected", count);
}

int nvmlDeviceGetRemappedRows(device d, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    int result = number32(d, "remapped_corrected", corrected);
    if (result != SUCCESS) return result;
    number32(d, "remapped_uncorrected", uncorrected);
    number32(d, "remapped_pending", pending);
    return number32(d, "remapped_failed", failed);
}

int nvmlDeviceGetNvLinkState(device d, unsigned link, unsigned *active) {
    char field[32];
    snprintf(field, sizeof field, "nvlink_%u", link);
    return number32(d, field, active);
}

union value { double d; unsigned ui; unsigned long ul; unsigned long long ull; };
struct field_value {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type, result;
    union value value;
};

int nvmlDeviceGetFieldValues(device d, int count, struct field_value *values) {
    for (int i = 0; i < count; i++) {
        const char *field = values[i].id == FIELD_MEMORY_TEMPERATURE ? "memory_temperature"
                          : values[i].id == FIELD_NVLINK_SENT        ? "nvlink_sent"
                          : values[i].id == FIELD_NVLINK_RECEIVED    ? "nvlink_received"
                                                                     : "field";
        unsigned long long value = 0;
        values[i].result = (unsigned)number(d, field, &value);
        values[i].type = values[i].id == FIELD_MEMORY_TEMPERATURE ? 1 : 3;
        values[i].value.ull = value;
    }
    return initialised ? SUCCESS : UNINITIALIZED;
}

struct process { unsigned pid; unsigned long long memory; unsigned instance, compute; };

static int processes(device d, const char *field, unsigned *count, struct process *found) {
    char text[VALUE], *save = NULL;
    unsigned room = found ? *count : 0, n = 0;
    int result = initialised ? ask(d, field, text, sizeof text) : UNINITIALIZED;
    if (result != SUCCESS) return result;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save), n++) {
        char *colon = strchr(word, ':');
        if (n >= room) continue;
        found[n].pid = (unsigned)atoi(word);
        found[n].memory = colon && colon[1] != '-' ? strtoull(colon + 1, NULL, 10) : ~0ULL;
        found[n].instance = found[n].compute = ~0U;
    }
    *count = n;
    return n > room ? INSUFFICIENT_SIZE : SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *count, struct process *found) {
    return processes(d, "processes", count, found);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(device d, unsigned *count, struct process *found) {
    return processes(d, "graphics_processes", count, found);
}

/* What a driver before 510 has; the same structure. */
int nvmlDeviceGetComputeRunningProcesses_v2(device d, unsigned *count, struct process *found) {
    return processes(d, "processes_v2", count, found);
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(device d, unsigned *count, struct process *found) {
    return processes(d, "graphics_processes_v2", count, found);
}

int nvmlDeviceGetMigMode(device d, unsigned *current, unsigned *pending) {
    int result = number32(d, "mig", current);
    *pending = *current;
    return result;
}
int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *count) { return number32(d, "mig_devices", count); }
int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned n, device *mig) {
    char text[VALUE];
    if (n >= MIGS || d->index < 0) return INVALID_ARGUMENT;
    *mig = &migs[d->index][n];
    return ask(*mig, "uuid", text, sizeof text) == SUCCESS ? SUCCESS : NOT_FOUND;
}
int nvmlDeviceGetGpuInstanceId(device d, unsigned *id) { return number32(d, "gpu_instance", id); }
int nvmlDeviceGetComputeInstanceId(device d, unsigned *id) { return number32(d, "compute_instance", id); }

struct event { device d; unsigned long long type, data; unsigned instance, compute; };

int nvmlEventSetCreate(void **set) {
    *set = &SYSTEM;
    return initialised ? SUCCESS : UNINITIALIZED;
}
int nvmlEventSetFree(void *set) { return set == &SYSTEM ? SUCCESS : INVALID_ARGUMENT; }
int nvmlDeviceRegisterEvents(device d, unsigned long long types, void *set) {
    char text[VALUE];
    if (types != XID_EVENT || set != &SYSTEM) return INVALID_ARGUMENT;
    int result = ask(d, "events", text, sizeof text);
    return result;
}

/* The next event of the script that is due and not yet told, else when the next one will be; with the lock held. */
static int next_event(struct event *e, double *due) {
    double elapsed = now() - began;
    refresh();
    for (int i = 0; scripted && i < used; i++) {
        char *dot = strchr(lines[i].key, '.');
        if (lines[i].delivered || !dot || strcmp(dot, ".xid")) continue;
        if (lines[i].at > elapsed) {
            *due = fmin(*due, lines[i].at - elapsed);
            continue;
        }
        lines[i].delivered = 1;
        *e = (struct event){&devices[atoi(lines[i].key) % DEVICES], XID_EVENT, strtoull(lines[i].value, NULL, 10), ~0U, ~0U};
        return 1;
    }
    return 0;
}

int nvmlEventSetWait_v2(void *set, struct event *e, unsigned timeout_ms) {
    double ends = now() + timeout_ms * 1e-3;
    if (set != &SYSTEM) return INVALID_ARGUMENT;
    while (initialised) {
        double left = ends - now(), due = left;
        pthread_mutex_lock(&lock);
        int found = next_event(e, &due);
        pthread_mutex_unlock(&lock);
        if (found) return SUCCESS;
        if (left <= 0) return TIMEOUT;
        usleep((useconds_t)(1e6 * due) + 1000);
    }
    return UNINITIALIZED;
}

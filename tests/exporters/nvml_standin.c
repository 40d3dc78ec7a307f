/* A stand-in for libnvidia-ml.so.1, as far as the exporter calls it. It does what a script file says, read anew at
 * every call, so that a test changes the machine by rewriting the file.
 *
 *   NVML_STANDIN_SCRIPT  lines `<device|system>.<field> value <v>`, `... error <code>`, `... hang <seconds> <v>`
 *   NVML_STANDIN_CALLS   optional: one line `<device|system>.<field>` is appended for every call
 *
 * A field that no line names answers NOT_SUPPORTED. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, UNKNOWN = 999 };

static int initialised = 0;
static const char *DEVICES[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
typedef const char **device;

static void note(const char *owner, const char *field) {
    const char *path = getenv("NVML_STANDIN_CALLS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s.%s\n", owner, field);
    fclose(file);
}

static int ask(const char *owner, const char *field, char *text, size_t size) {
    char key[128], line[256], name[128], verb[16], value[128];
    const char *path = getenv("NVML_STANDIN_SCRIPT");
    FILE *file = path ? fopen(path, "r") : NULL;
    int result = NOT_SUPPORTED;
    note(owner, field);
    if (!file) return UNKNOWN;
    snprintf(key, sizeof key, "%s.%s", owner, field);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%127s %15s %127[^\n]", name, verb, value) != 3 || strcmp(name, key)) continue;
        if (!strcmp(verb, "error")) {
            result = atoi(value);
            break;
        }
        char *shown = value;
        if (!strcmp(verb, "hang")) usleep((useconds_t)(1e6 * strtod(value, &shown)));
        while (*shown == ' ') shown++;
        snprintf(text, size, "%s", shown);
        result = SUCCESS;
        break;
    }
    fclose(file);
    return result;
}

static int number(const char *owner, const char *field, unsigned long long *value) {
    char text[128];
    int result = initialised ? ask(owner, field, text, sizeof text) : UNINITIALIZED;
    if (result == SUCCESS) *value = strtoull(text, NULL, 10);
    return result;
}

static int number32(device d, const char *field, unsigned *value) {
    unsigned long long wide = 0;
    int result = number(*d, field, &wide);
    if (result == SUCCESS) *value = (unsigned)wide;
    return result;
}

int nvmlInitWithFlags(unsigned flags) {
    char text[128];
    int result = ask("system", "init", text, sizeof text);
    (void)flags;
    initialised = result == SUCCESS;
    return result;
}

int nvmlShutdown(void) {
    note("system", "shutdown");
    if (!initialised) return UNINITIALIZED;
    initialised = 0;
    return SUCCESS;
}

const char *nvmlErrorString(int code) {
    static char text[32];
    snprintf(text, sizeof text, "error %d", code);
    return text;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) { return ask("system", "driver", text, size); }
int nvmlSystemGetNVMLVersion(char *text, unsigned size) { return ask("system", "nvml", text, size); }

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    unsigned long long value = 0;
    int result = number("system", "cuda", &value);
    *version = (int)value;
    return result;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    unsigned long long value = 0;
    int result = number("system", "devices", &value);
    *count = (unsigned)value;
    return result;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d) {
    char text[128];
    if (index >= 8) return INVALID_ARGUMENT;
    *d = &DEVICES[index];
    int result = ask(DEVICES[index], "handle", text, sizeof text);
    return result == NOT_SUPPORTED ? SUCCESS : result;
}

int nvmlDeviceGetUUID(device d, char *text, unsigned size) { return ask(*d, "uuid", text, size); }
int nvmlDeviceGetName(device d, char *text, unsigned size) { return ask(*d, "name", text, size); }

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };

int nvmlDeviceGetPciInfo_v3(device d, struct pci *pci) { return ask(*d, "bus_id", pci->bus_id, sizeof pci->bus_id); }

struct memory_v1 { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };

int nvmlDeviceGetMemoryInfo(device d, struct memory_v1 *m) {
    unsigned long long reserved = 0;
    int result = number(*d, "memory_v1", &m->total);
    if (result != SUCCESS) return result;
    number(*d, "memory_used", &m->used);
    number(*d, "memory_reserved", &reserved);
    m->used += reserved;
    m->free = m->total - m->used;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(device d, struct memory_v2 *m) {
    int result = m->version == 0x02000028 ? number(*d, "memory_v2", &m->total) : 25;
    if (result != SUCCESS) return result;
    number(*d, "memory_used", &m->used);
    number(*d, "memory_reserved", &m->reserved);
    m->free = m->total - m->used - m->reserved;
    return SUCCESS;
}

struct utilization { unsigned gpu, memory; };

int nvmlDeviceGetUtilizationRates(device d, struct utilization *u) {
    int result = number32(d, "utilization", &u->gpu);
    return result == SUCCESS ? number32(d, "memory_activity", &u->memory) : result;
}

int nvmlDeviceGetPowerUsage(device d, unsigned *mw) { return number32(d, "power", mw); }
int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw) { return number32(d, "power_limit", mw); }
int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj) { return number(*d, "energy", mj); }
int nvmlDeviceGetTemperature(device d, int sensor, unsigned *celsius) {
    return sensor == 0 ? number32(d, "temperature", celsius) : INVALID_ARGUMENT;
}

static const char *CLOCKS[] = {"clock_graphics", "clock_sm", "clock_memory", "clock_video"};

int nvmlDeviceGetClockInfo(device d, unsigned kind, unsigned *mhz) {
    return kind < 4 ? number32(d, CLOCKS[kind], mhz) : INVALID_ARGUMENT;
}
int nvmlDeviceGetMaxClockInfo(device d, unsigned kind, unsigned *mhz) { return nvmlDeviceGetClockInfo(d, kind, mhz); }
int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *mask) {
    return number(*d, "throttle_reasons", mask);
}
int nvmlDeviceGetPerformanceState(device d, int *state) { return number32(d, "performance_state", (unsigned *)state); }
int nvmlDeviceGetPcieThroughput(device d, unsigned counter, unsigned *kb) {
    return number32(d, counter == 0 ? "pcie_transmit" : "pcie_receive", kb);
}
int nvmlDeviceGetCurrPcieLinkWidth(device d, unsigned *lanes) { return number32(d, "pcie_lanes", lanes); }

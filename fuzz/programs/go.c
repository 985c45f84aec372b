// Has the data of Go's runtime that goroutines are found by (src/runtime/runtime2.go), with its names:
// make-corpus replaces _DOT_. Dies in a panic, on the stack of the thread.
#define KEEP __attribute__((noinline, noclone))
typedef unsigned long word;
struct string {
  const char* start;
  word size;
};

void end_process(void);
int process_id(void);
volatile word sink;

struct type {
  word size;
  unsigned char tflag, kind;
  int str;
};
struct interface {
  struct type* _type;
  void* data;
};
struct panic {
  void* argp;
  struct interface arg;
  struct panic* link;
  unsigned char recovered, goexit;
};
struct m;
struct g {
  struct {
    word lo, hi;
  } stack;
  struct panic* _panic;
  struct m* m;
  struct {
    word sp, pc, bp;
  } sched;
  struct {
    unsigned value;
  } atomicstatus;
  word goid;
  long waitsince;
  unsigned char waitreason;
  struct m* lockedm;
  unsigned sig;
  word sigcode1, sigpc, gopc, startpc;
};
struct m {
  struct g *g0, *curg;
  word procid;
  struct m* alllink;
};
struct moduledata {
  word types, etypes;
  struct moduledata* next;
};

__attribute__((section(".go.buildinfo"))) const char build_info[] = "\xff Go buildinf:";
struct string runtime_DOT_buildVersion = {"go1.22.5", 8};
struct string runtime_DOT_waitReasonStrings[] = {{"", 0}, {"chan receive", 12}, {"select", 6}};
struct g runtime_DOT_g0;
struct m runtime_DOT_m0;
struct g* all[4];
struct {
  struct g** start;
  word size, room;
} runtime_DOT_allgs = {all, 4, 4};
struct m* runtime_DOT_allm = &runtime_DOT_m0;

// Types: a flag byte, the length, the name.
static struct {
  struct type string, number, other;
  char names[40];
} types = {{16, 0, 24, 3 * sizeof(struct type)},
           {8, 2, 2, 3 * sizeof(struct type) + 8},
           {8, 0, 25, 3 * sizeof(struct type) + 20},
           "\0\6string\0\11*main.Num\0\0\6main.T"};
struct moduledata runtime_DOT_firstmoduledata;

static struct g first, second, third;
static struct m other;
static word number = 42;
static struct string text = {"it failed", 9};
static struct panic panics[3];
static word stack[512];

KEEP void runtime_DOT_gopark(void) {
  ++sink;
}

// On the stack of the thread.
KEEP void runtime_DOT_systemstack(void) {
  end_process();
  ++sink;
}

KEEP void start(void) {
  runtime_DOT_systemstack();
  ++sink;
}

int main(void) {
  runtime_DOT_firstmoduledata = (struct moduledata){(word)&types, (word)(&types + 1), 0};
  panics[0] = (struct panic){0, {&types.string, &text}, 0, 1, 0};
  panics[1] = (struct panic){0, {&types.other, &number}, &panics[0], 0, 1};
  panics[2] = (struct panic){0, {&types.number, &number}, &panics[1], 0, 0};
  const word here = (word)__builtin_frame_address(0);
  runtime_DOT_g0.stack.lo = here - 4096;
  runtime_DOT_g0.stack.hi = here + 4096;
  runtime_DOT_m0 = (struct m){&runtime_DOT_g0, &first, (word)process_id(), &other};
  other = (struct m){&runtime_DOT_g0, &third, 77, 0};
  first = (struct g){
      .stack = {(word)stack, (word)(stack + 512)}, ._panic = &panics[2], .m = &runtime_DOT_m0, .goid = 1};
  first.sched.pc = (word)start;
  first.sched.sp = (word)(stack + 100);
  first.sched.bp = (word)(stack + 110);
  first.atomicstatus.value = 2;
  first.sig = 11;
  first.sigpc = (word)start;
  first.startpc = (word)main;
  second = first;
  second.goid = 2;
  second.atomicstatus.value = 4;
  second.waitreason = 1;
  second.lockedm = &other;
  second.gopc = (word)start;
  third = first;
  third.goid = 3;
  third.atomicstatus.value = 3;
  third.m = &other;
  all[0] = &first;
  all[1] = &second;
  all[2] = &third;
  all[3] = &runtime_DOT_g0;
  stack[100] = (word)main + 8;
  start();
  return (int)sink;
}

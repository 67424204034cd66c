#include <stdint.h>
#include <stddef.h>
struct counters { char *pages[300]; };
static struct counters none; 
static __thread struct counters *mine __attribute__((tls_model("initial-exec"))) = &none;
struct marker { uint32_t page, at; };
void count(const struct marker *m) { char *p = *(char **)((char *)mine->pages + m->page); if (__builtin_expect(p!=NULL,1)) { uint64_t *c = (uint64_t *)(p + m->at); __atomic_store_n(c, __atomic_load_n(c, __ATOMIC_RELAXED)+1, __ATOMIC_RELAXED);} }
void begin(void){ static struct counters c; static char page[65536]; c.pages[0]=page; mine=&c; }

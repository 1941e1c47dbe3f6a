// The executable allocates with jemalloc: a planner makes many small objects.
//
// Huge pages, and memory that was used is kept: no run lasts long. All threads share one arena, of
// whose bins they have shards of their own: where a thread finds no memory for an arena, jemalloc
// 5.3 ends the process instead of saying that there is none.
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1,narenas:1,bin_shards:1-14336:16";

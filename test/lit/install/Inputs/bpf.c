// Its user-space side: the table of this program is made by sframe-gen.
#include <bpf/libbpf.h>
#include <sframe/bpf/tables.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct bpf_object* object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
  if (!object || bpf_object__load(object) != 0) return 2;
  const sframe_bpf_options options = {.size = sizeof options, .generator = "sframe-gen"};
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  sframe_bpf_counts counts = {.size = sizeof counts};
  if (!tables || sframe_bpf_tables_add(tables, (int)getpid()) < 0) return 2;
  sframe_bpf_tables_count(tables, &counts);
  printf("loaded, tables: %d\n", counts.tables > 0);
  sframe_bpf_tables_free(tables);
  return 0;
}

; For LLVM's JIT compilers: main calls compiled_main, that calls deep, into which inner is inlined, and inner dies. The
; debug information is as if this were a file /src/jit.c.
declare void @abort() noreturn

define i32 @deep(i32 %n) noinline nounwind uwtable !dbg !5 {
  %room = alloca [40 x i8]
  call void @use(ptr %room), !dbg !10
  call void @abort(), !dbg !11
  unreachable
}

define void @use(ptr %place) noinline nounwind uwtable {
  store volatile i8 0, ptr %place
  ret void
}

define i32 @compiled_main() noinline nounwind uwtable !dbg !6 {
  %x = call i32 @deep(i32 2), !dbg !12
  %y = add i32 %x, 1
  ret i32 %y
}

define i32 @main() nounwind uwtable {
  %x = call i32 @compiled_main()
  %y = add i32 %x, 1
  ret i32 %y
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "jit.c", directory: "/src")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !DISubroutineType(types: !{null})
!5 = distinct !DISubprogram(name: "deep", scope: !1, file: !1, line: 5, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!6 = distinct !DISubprogram(name: "compiled_main", scope: !1, file: !1, line: 8, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!7 = distinct !DISubprogram(name: "inner", scope: !1, file: !1, line: 2, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!10 = !DILocation(line: 5, scope: !5)
!11 = !DILocation(line: 3, scope: !7, inlinedAt: !13)
!12 = !DILocation(line: 9, scope: !6)
!13 = distinct !DILocation(line: 6, scope: !5)

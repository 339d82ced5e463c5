// What completed instrumentation calls (announce/): the announcement of an access at the address in rdi. All registers
// and flags stay as they are. Mostly the access is of the thread's own local memory, which is of no interest.
#if defined(__x86_64__)
    .text

// The flags are in rax when this begins and when it ends.
.macro save_flags
    pushq %rax
    lahf
    seto %al
    pushq %rax
.endm
.macro restore_flags
    popq %rax
    addb $127, %al
    sahf
    popq %rax
.endm

.macro seen name, bytes, kind, thread_local
    .globl \name
    .type \name, %function
\name:
    save_flags
.if \thread_local
    addq %fs:0, %rdi
.endif
    movq %rdi, %rax
    subq %fs:simt_local@tpoff, %rax
    cmpq %fs:simt_local@tpoff+8, %rax
    jae 1f
    addq $\bytes-1, %rax
    cmpq %fs:simt_local@tpoff+8, %rax
    jae 1f
    subq %fs:simt_local@tpoff+8, %rax
    addq %fs:simt_depth@tpoff, %rax
    js 1f
    restore_flags
    ret
1:  pushq %rsi
    pushq %rdx
    movl $\bytes, %esi
    movl $\kind, %edx
    call simt_seen_slowly
    popq %rdx
    popq %rsi
    restore_flags
    ret
    .size \name, .-\name
.endm

.macro seen_range name, kind
    .globl \name
    .type \name, %function
\name:
    save_flags
    pushq %rsi
    pushq %rdx
    movl $\kind, %edx
    call simt_seen_slowly
    popq %rdx
    popq %rsi
    restore_flags
    ret
    .size \name, .-\name
.endm

// simt_seen(rdi: address, rsi: bytes, rdx: 0 load, 1 store, 2 atomic, rcx: pc), with everything saved that a function may change. The pc is
// what the code that called simt_seen_... returns to: above this function's return address, rdx, rsi, flags and rax.
    .type simt_seen_slowly, %function
simt_seen_slowly:
    pushq %rbp
    movq %rsp, %rbp
    pushq %rcx
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    movq 48(%rbp), %rcx
    subq $256, %rsp
    andq $-16, %rsp
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups %xmm\n, 16*\n(%rsp)
.endr
    call simt_seen
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups 16*\n(%rsp), %xmm\n
.endr
    leaq -48(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rcx
    popq %rbp
    ret
    .size simt_seen_slowly, .-simt_seen_slowly

// Where control goes (flow.cpp), while a kernel is watched: `function`(where the return address lies, pc, r11, r10), all as
// it was when the rung called this. Below `function`'s caller lie the flags, rax, the pc and, where the rung has just been
// entered or is about to return, its return address.
.macro flow name, function
    .globl \name
    .type \name, %function
\name:
    pushq %rax
    lahf
    seto %al
    cmpq $0, %fs:_ZN4simt9recordingE@tpoff
    je 1f
    pushq %rax
    leaq \function(%rip), %rax
    call simt_flow_slowly
    popq %rax
1:  addb $127, %al
    sahf
    popq %rax
    ret
    .size \name, .-\name
.endm

    .type simt_flow_slowly, %function
simt_flow_slowly:
    pushq %rbp
    movq %rsp, %rbp
.irp register, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    pushq %\register
.endr
    leaq 40(%rbp), %rdi
    movq 32(%rbp), %rsi
    movq %r11, %rdx
    movq %r10, %rcx
    subq $256, %rsp
    andq $-16, %rsp
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups %xmm\n, 16*\n(%rsp)
.endr
    call *%rax
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups 16*\n(%rsp), %xmm\n
.endr
    leaq -64(%rbp), %rsp
.irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx
    popq %\register
.endr
    popq %rbp
    ret
    .size simt_flow_slowly, .-simt_flow_slowly

    flow simt_seen_enter, simt_flow_enter
    flow simt_seen_leave, simt_flow_leave
    flow simt_seen_target, simt_flow_target
    flow simt_seen_stack, simt_flow_stack

// Blocks that the compiler has made one of after it had instrumented them: only the first of them is entered.
    .globl simt_seen_same_block
    .type simt_seen_same_block, %function
simt_seen_same_block:
    ret
    .size simt_seen_same_block, .-simt_seen_same_block

.irp bytes, 1, 2, 4, 8, 16
    seen simt_seen_load\bytes, \bytes, 0, 0
    seen simt_seen_store\bytes, \bytes, 1, 0
    seen simt_seen_tls_load\bytes, \bytes, 0, 1
    seen simt_seen_tls_store\bytes, \bytes, 1, 1
    seen simt_seen_atomic\bytes, \bytes, 2, 0
    seen simt_seen_tls_atomic\bytes, \bytes, 2, 1
.endr
    seen_range simt_seen_load_range, 0
    seen_range simt_seen_store_range, 1
#endif
    .section .note.GNU-stack, "", %progbits

// void simt_switch(void** from, void* to): see switch.h.
    .text
    .globl simt_switch
    .type simt_switch, %function
simt_switch:
#if defined(__x86_64__)
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    .cfi_adjust_cfa_offset 48
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    .cfi_adjust_cfa_offset -48
    ret
    .cfi_endproc
#elif defined(__aarch64__)
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
#else
#error "the executor runs on x86-64 and aarch64"
#endif
    .size simt_switch, .-simt_switch

// void simt_call_kernel(run, arguments, local, copy): see switch.h. A range is its begin and its bytes.
    .globl simt_call_kernel
    .type simt_call_kernel, %function
simt_call_kernel:
    .cfi_startproc
#if defined(__x86_64__)
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    .cfi_adjust_cfa_offset 56
    leaq -8(%rsp), %rax  // below the address that run() returns to
    movq (%rdx), %r8
    subq %r8, %rax
    movq %rax, 8(%rdx)
    movq %r8, (%rcx)
    movq %rax, 8(%rcx)
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    .cfi_adjust_cfa_offset -56
    ret
#elif defined(__aarch64__)
    stp x29, x30, [sp, #-16]!
    .cfi_adjust_cfa_offset 16
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x9, sp
    ldr x10, [x2]
    sub x9, x9, x10
    str x9, [x2, #8]
    str x9, [x3, #8]
    mov x9, x0
    mov x0, x1
    blr x9
    ldp x29, x30, [sp], #16
    .cfi_adjust_cfa_offset -16
    ret
#endif
    .cfi_endproc
    .size simt_call_kernel, .-simt_call_kernel
    .section .note.GNU-stack, "", %progbits

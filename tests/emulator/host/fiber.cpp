// The switch from one fiber to another: keeps what the System V ABI lets a callee keep.
#if defined(__x86_64__)

// swapcontext() asks the kernel for the signal mask at each switch: a hundred times slower.
asm(R"(
  .text
  .globl emulation_switch
  .hidden emulation_switch
  .type emulation_switch, @function
emulation_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  pop %rcx
  jmp *%rcx
  .size emulation_switch, . - emulation_switch
)");

#endif

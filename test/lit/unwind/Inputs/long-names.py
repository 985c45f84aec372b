"""long-names.py: prints a program that dies in a function with a long name and many arguments."""
arguments = ["a%029d" % i if i == 0 else "a%d%028d" % (i, 0) for i in range(20)]
print(
    "void %s(%s) { *(volatile int *)0 = 1; }"
    % ("f" * 200, ", ".join("int " + name for name in arguments))
)
print("int main(void) { %s(%s); }" % ("f" * 200, ", ".join(str(i) for i in range(20))))

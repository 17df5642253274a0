int a = 5
int b = a * 7
String s = "x" + b
java.util.stream.IntStream.range(0, 100).sum()
/exit

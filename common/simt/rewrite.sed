# CUDA C++ -> C++: what no macro can express. Lines keep their numbers.
#
#   kernel<T><<<grid, block, bytes, stream>>>(a, b);  ->  SIMT_LAUNCH((kernel<T>), (grid, block, bytes, stream))(a, b);
#   extern __shared__ float row[];                    ->  SIMT_DYNAMIC_SHARED(float, row);
#   float sum(__shared__ float* row)                  ->  float sum(float* row)
#
# Run with `sed -E`.

# The mark that some editors put at the beginning of a file: the compiler takes it nowhere else, and a #line comes first.
1s/^\xEF\xBB\xBF//

# The whole file at once: a launch may stand on several lines.
:more
$! { N; b more }

# A name, possibly with template arguments (which nest two deep); then <<< ... >>>, the first >>> closing it.
s/([A-Za-z_][A-Za-z0-9_:]*([[:space:]]*<([^<>(){};]|\([^()]*\)|<([^<>(){};]|\([^()]*\)|<[^<>(){};]*>)*>)*>)?)[[:space:]]*<<<(([^>;]|>[^>;]|>>[^>;])*>?>?)>>>/SIMT_LAUNCH((\1), (\5))/g

# A kernel has one attribute of this kind: its cluster's shape, which decides what it computes, before its bounds.
s/(__cluster_dims__[[:space:]]*\([^()]*(\([^()]*\)[^()]*)*\)[[:space:]]*)__launch_bounds__[[:space:]]*\([^()]*(\([^()]*\)[^()]*)*\)/\1/g

# A parameter may say where it points to; that places nothing.
:parameter
s/([(,][[:space:]]*(const[[:space:]]+)?)__shared__[[:space:]]+([A-Za-z_][A-Za-z0-9_:<>[:space:]]*[*&][^(),;]*[,)])/\1\3/g
t parameter

# In a kernel it becomes a pointer; at the beginning of a line, outside any function, a variable by another name.
s/(extern|__shared__)[[:space:]]+(__align__[[:space:]]*\([^)]*\)[[:space:]]+)?(extern|__shared__)[[:space:]]([^;[]*[^A-Za-z0-9_;[])([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*\[[[:space:]]*\][[:space:]]*;/SIMT_DYNAMIC_SHARED(\4, \5);/g
s/(\n)SIMT_DYNAMIC_SHARED\(([^;]*), ([A-Za-z0-9_]*)\);/\1SIMT_GLOBAL_DYNAMIC_SHARED(\2, \3);/g

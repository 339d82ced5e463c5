# What a compiler says of a file, without what says nothing to its author: one message for each instance of a template, and the
# launcher's templates through which an instance came to be (common/simt/include/simt/launch.h).
function say(line) {
  print line
  fflush()
}
# The launcher's, or a lambda of a launch.
/: +required (from|by) / && (/simt::/ || /simt\/launch\.h:/) { next }
/: In instantiation of .*<lambda\(const auto/ { next }
# Where a message stands: kept until it is known whether the message is new.
/: In (function|member function|static member function|constructor|destructor|lambda function|instantiation of|substitution of) / || /: +(recursively )?required (from|by) / ||
/^In file included from / || /^ +from .*[:,]$/ || /: At global scope:$/ || /: \[ skipping / {
  context = context $0 "\n"
  next
}
/: (warning|(fatal )?error): / {
  sub(/‘void simt::Launcher<.*’ is unavailable: /, "")
  sub(/error: #error /, "error: ")
  repeated = $0 in said
  said[$0] = 1
  if (!repeated) printf "%s", context
  context = ""
}
# A note about the executor's own text.
/^common\/simt\/include\/.*: note: / {
  context = ""
  repeated = 1
  next
}
!/^ / && !/: (warning|(fatal )?error|note): / { repeated = 0 }
!repeated {
  printf "%s", context
  context = ""
  say($0)
}
END { printf "%s", context }

// announce [--report FILE] IN.s OUT.s: completes the instrumentation of compiled code (rewriter.h).
//
// The report has a line for each finding, "odd<TAB>file<TAB>line<TAB>what", and each name that the file needs from
// others or defines, "needs<TAB>line<TAB>name" and "defines<TAB>name".
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "rewriter.h"

int main(int argc, char** argv) {
  const char* report_path = nullptr;
  std::vector<const char*> paths;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "--report") == 0 && i + 1 < argc)
      report_path = argv[++i];
    else
      paths.push_back(argv[i]);
  }
  if (paths.size() != 2) {
    std::fprintf(stderr, "usage: announce [--report FILE] IN.s OUT.s\n");
    return 2;
  }
  std::ifstream in(paths[0], std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) {
    std::fprintf(stderr, "announce: %s cannot be read\n", paths[0]);
    return 2;
  }
  announce::Rewriter rewriter;
  std::ofstream out(paths[1], std::ios::binary);
  out << rewriter.rewrite(text.str()) << std::flush;
  if (!out) {
    std::fprintf(stderr, "announce: %s cannot be written\n", paths[1]);
    return 2;
  }
  if (!report_path) return 0;
  std::ofstream report(report_path, std::ios::binary);
  for (const announce::Finding& finding : rewriter.report().findings)
    report << "odd\t" << finding.file << '\t' << finding.line << '\t' << finding.what << '\n';
  for (const auto& [name, line] : rewriter.report().needs) report << "needs\t" << line << '\t' << name << '\n';
  for (const std::string& name : rewriter.report().defines) report << "defines\t" << name << '\n';
  report.flush();
  return report ? 0 : 2;
}

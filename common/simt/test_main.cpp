// main() of the course's own tests.
#include "../testing/run_catch.h"

int main(int argc, char** argv) { return testing_::run_catch(argc, argv); }

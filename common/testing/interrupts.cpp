#include "interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <initializer_list>
#include <thread>

#include "request.h"

namespace testing_ {

void end_at_interrupts() {
  const pid_t parent = getppid();
  sigset_t interrupts;
  sigemptyset(&interrupts);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&interrupts, number);
  // Blocked in every thread, they reach only the one that waits for them.
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  std::thread([interrupts] {
    int number = 0;
    while (sigwait(&interrupts, &number) != 0) {
    }
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    kill(getpid(), number);
  }).detach();
  if (request().ends_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) kill(getpid(), SIGTERM);
  }
}

}  // namespace testing_

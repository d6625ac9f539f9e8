// A driver decides what trials a step is made of: how long they are, which contacts they have, and when their end is
// where the step goes on from. The stages themselves are the pipe's, and the same for all drivers.
#pragma once

#include <memory>

#include "step/pipe.h"

namespace slipstick {

class Driver {
 public:
  explicit Driver(Pipe* pipe) : pipe_(*pipe) {}  ///< keeps a reference
  virtual ~Driver() = default;

  /// A step begins at pipe.state. Sets pipe.input: where the first trial starts, and how long it is.
  virtual void begin() = 0;
  /// Between stages 3 and 4: the impacts that are due where the trial starts, and which of the contacts found it has.
  virtual void prepare() = 0;
  /// Stage 10, after a trial with a finite end. False: back to stage 2 with another trial, for which pipe.input is set.
  virtual bool accept() = 0;
  /// Stage 12, after an accepted trial. True: the step is over; false: pipe.input is set for its next part.
  virtual bool commit() = 0;

 protected:
  Pipe& pipe_;
};

std::unique_ptr<Driver> make_fixed_driver(Pipe* pipe);
std::unique_ptr<Driver> make_event_driver(Pipe* pipe);

/// The driver that the scheme and the options ask for.
std::unique_ptr<Driver> make_driver(Pipe* pipe);

}  // namespace slipstick

// slipstick view --video and --png: a recording as a film or a row of pictures.
#pragma once

#include "commands.h"

int film(const ViewArguments& arguments);

// The numbers of a SPOOK row, shared by the scheme and by what it warns of.
#pragma once

#include <slipstick/simulation.h>

#include <string>
#include <vector>

namespace slipstick {

/// [LacoursiereLinde11, 56]: phi = 1/(1 + 4 tau/h), T = 4 epsilon phi/h^2.
struct SpookRow {
  double phi = 1;  ///< 1
  double T = 0;    ///< 1/kg or 1/(kg m^2)
};
SpookRow make_spook_row(double compliance, double damping_time, double h);
/// A spring k with damper d: epsilon = 1/k, tau = d/k, without a division by k.
SpookRow make_spook_spring(double stiffness, double damping, double h);

/// epsilon and tau of a joint: its own where it has them.
double calc_spook_compliance(const Joint& joint, const SimulationOptions& options);
double calc_spook_damping(const Joint& joint, const SimulationOptions& options);
/// tau of a contact.
double calc_spook_damping(const PairLaw& law, const SimulationOptions& options);

/// Values outside of their ranges.
void find_spook_faults(const SpookOptions& options, std::vector<OptionFault>* faults);
/// Values given by a user that lie below the safe bounds (tau >= 2 h; T >= 1e-6 over the largest mass), springs that
/// the step cannot resolve, and loops of joints with different damping times.
std::vector<std::string> find_spook_warnings(const Model& model, const SimulationOptions& options);

}  // namespace slipstick

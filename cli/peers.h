// Other engines, each in a program of its own beside this one (bench/peers), asked through plain text.
#pragma once

#include <string>
#include <vector>

struct Peer {
  std::string name;     ///< as shown if it does not answer
  std::string program;  ///< a file beside this program
  std::string setting;  ///< its argument
  std::string package;  ///< Debian's, needed to build it
};

/// Those whose programs are there; `missing` gets the packages of the others, each once.
std::vector<Peer> find_peers(std::vector<std::string>* missing);

struct PeerAnswer {
  std::string text;
  std::string failure;  ///< empty: it ended by itself, in order
};
/// Runs the program with `input` as its standard input, for at most `limit` seconds.
PeerAnswer ask_peer(const Peer& peer, const std::string& input, double limit);

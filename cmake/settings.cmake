# Compiler settings that every target shares, and the function that makes a room.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceRuns)
add_library(slipstick_settings INTERFACE)
# g++ 12 warns of bounds inside std::string and Eigen that are never crossed (its bugs 105329, 105651): not of ours.
target_compile_options(slipstick_settings INTERFACE -Wall -Wextra -Wno-maybe-uninitialized)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(slipstick_settings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict
    -Wno-subobject-linkage)  # this one: a source file of a unity build counts as a header
endif()
# The rooms also go into shared libraries (install.cmake); everything has the same flags, or the precompiled header would
# serve only some. No function of ours is to be replaced from outside: without -fno-semantic-interposition the compiler
# would have to expect that, and inline less.
target_compile_options(slipstick_settings INTERFACE -fPIC)
check_cxx_compiler_flag(-fno-semantic-interposition SLIPSTICK_HAS_NO_INTERPOSITION)
if(SLIPSTICK_HAS_NO_INTERPOSITION)
  target_compile_options(slipstick_settings INTERFACE -fno-semantic-interposition)
endif()
# Instructions: AVX2 and FMA (x86-64-v3) where this machine has them, and no more, so that the same scene has the same bits on
# every such machine (docs/decisions/0014). SLIPSTICK_NATIVE takes all that this one has.
if(SLIPSTICK_NATIVE)
  check_cxx_compiler_flag(-march=native SLIPSTICK_HAS_NATIVE)
  if(SLIPSTICK_HAS_NATIVE)
    target_compile_options(slipstick_settings INTERFACE -march=native)
  endif()
elseif(SLIPSTICK_AVX2)
  set(CMAKE_REQUIRED_FLAGS -march=x86-64-v3)
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") ? 0 : 1; }"
                        SLIPSTICK_HAS_AVX2)
  unset(CMAKE_REQUIRED_FLAGS)
  if(SLIPSTICK_HAS_AVX2)
    target_compile_options(slipstick_settings INTERFACE -march=x86-64-v3)
  endif()
endif()
# The checks that find faults; those of null and misaligned references, on every access of Eigen's, cost a third of the
# time of compiling and find what the address sanitizer finds anyway. Test programs are linked with the sanitizers but
# their own code is not instrumented: it halves the time.
set(slipstick_sanitizers "")
if(SLIPSTICK_SANITIZE)
  set(slipstick_sanitizers -fsanitize=address,signed-integer-overflow,shift,bounds,float-cast-overflow,return,unreachable,enum,bool,integer-divide-by-zero
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(slipstick_settings INTERFACE SLIPSTICK_SANITIZED
    EIGEN_MALLOC_ALREADY_ALIGNED=1)  # or Eigen allocates in one way in instrumented code and in another elsewhere
  target_link_options(slipstick_settings INTERFACE -fsanitize=address,undefined)
endif()

# slipstick_room(name USES rooms... LINKS libraries...): src/name/**.cpp as the static library slipstick_name.
function(slipstick_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    file(WRITE ${PROJECT_BINARY_DIR}/empty_${name}.cpp "")
    set(sources ${PROJECT_BINARY_DIR}/empty_${name}.cpp)
  endif()
  add_library(slipstick_${name} STATIC ${sources})
  set_property(GLOBAL APPEND PROPERTY slipstick_rooms ${name})
  target_include_directories(slipstick_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(slipstick_${name} PUBLIC Eigen3::Eigen PRIVATE slipstick_settings)
  # Eigen's alignment follows the instruction set unless told otherwise: the layout of public types must not.
  target_compile_definitions(slipstick_${name} PUBLIC EIGEN_MAX_ALIGN_BYTES=16)
  foreach(room ${ROOM_USES})
    target_link_libraries(slipstick_${name} PUBLIC slipstick_${room})
  endforeach()
  target_link_libraries(slipstick_${name} PRIVATE ${ROOM_LINKS})
  target_compile_options(slipstick_${name} PRIVATE ${slipstick_sanitizers})
  slipstick_precompile(slipstick_${name})
endfunction()

# Several source files are compiled as one, which divides the time of a whole build by three: names at file scope must
# be unique in a room or a test program. -DCMAKE_UNITY_BUILD=OFF for work on one file.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
endif()
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# Eigen's headers take three seconds a source file to read: read them once. The first room makes the precompiled header.
function(slipstick_precompile target)
  if(target STREQUAL "slipstick_base")
    target_precompile_headers(${target} PRIVATE <Eigen/Core> <Eigen/Geometry> <Eigen/LU>
      <algorithm> <array> <cmath> <memory> <optional> <span> <string> <string_view> <variant> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM slipstick_base)
  endif()
endfunction()

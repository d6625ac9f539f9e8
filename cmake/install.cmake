# What `cmake --install` puts into a prefix: the library for other programs (docs/library.md), one shared library of the
# rooms up to scene, and one of those that serve the application. Shared, with everything hidden but our own names: what
# the flags of a program make of Eigen's templates must not take the place of ours (docs/decisions/0018).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(slipstick_app_rooms import record report study view)
get_property(slipstick_engine_rooms GLOBAL PROPERTY slipstick_rooms)
list(REMOVE_ITEM slipstick_engine_rooms ${slipstick_app_rooms})

# slipstick_shared(target NAME name ROOMS rooms... LINKS libraries...): lib<name>.so of the objects of these rooms.
function(slipstick_shared target)
  cmake_parse_arguments(LIB "" "NAME;EXPORT_NAME;EXPORT" "ROOMS;LINKS" ${ARGN})
  set(objects "")
  foreach(room ${LIB_ROOMS})
    list(APPEND objects $<TARGET_OBJECTS:slipstick_${room}>)
  endforeach()
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${LIB_NAME} EXPORT_NAME ${LIB_EXPORT_NAME} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN"
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map
    -Wl,-Bsymbolic-functions -Wl,--no-undefined $<$<BOOL:${SLIPSTICK_SANITIZE}>:-fsanitize=address,undefined>)
  foreach(library ${LIB_LINKS})  # a matter of the library alone: programs need not have them to build
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  install(TARGETS ${target} EXPORT ${LIB_EXPORT} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

slipstick_shared(slipstick_library NAME slipstick EXPORT_NAME slipstick EXPORT slipstickTargets
  ROOMS ${slipstick_engine_rooms} LINKS Qhull::qhull_r Threads::Threads yaml-cpp)
target_link_libraries(slipstick_library INTERFACE Eigen3::Eigen)
target_compile_features(slipstick_library INTERFACE cxx_std_20)
target_compile_definitions(slipstick_library INTERFACE EIGEN_MAX_ALIGN_BYTES=16)

slipstick_shared(slipstick_app_library NAME slipstick_app EXPORT_NAME app EXPORT slipstickAppTargets
  ROOMS ${slipstick_app_rooms} LINKS nlohmann_json::nlohmann_json ZLIB::ZLIB ${HDF5_C_LIBRARIES} ${CAIRO_LIBRARY}
  ${CIVETWEB_LIBRARY} ${TINYXML2_LIBRARY} $<$<BOOL:${ASSIMP_LIBRARY}>:${ASSIMP_LIBRARY}>)
target_link_libraries(slipstick_app_library PUBLIC slipstick_library)

install(DIRECTORY include/slipstick DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(slipstick_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/slipstick)
foreach(export slipstickTargets slipstickAppTargets)
  install(EXPORT ${export} NAMESPACE slipstick:: DESTINATION ${slipstick_config_dir})
endforeach()
configure_package_config_file(cmake/slipstickConfig.cmake.in slipstickConfig.cmake INSTALL_DESTINATION ${slipstick_config_dir})
write_basic_package_version_file(slipstickConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/slipstickConfig.cmake ${PROJECT_BINARY_DIR}/slipstickConfigVersion.cmake
  DESTINATION ${slipstick_config_dir})
file(RELATIVE_PATH slipstick_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/slipstick.pc.in slipstick.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slipstick.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Who has a recording and no Slipstick checks it with this: NumPy and h5py are all that it needs.
install(PROGRAMS python/slipstick/recheck.py DESTINATION ${CMAKE_INSTALL_DATADIR}/slipstick)
# All that `cmake --install` needs; ./slipstick builds it with the program.
add_custom_target(library DEPENDS slipstick_library slipstick_app_library)

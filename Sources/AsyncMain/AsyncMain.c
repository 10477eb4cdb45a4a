#include "AsyncMain.h"

#include "CLinuxMainThread.h"

// Before main begins, because Swift looks once, when main has been started.
__attribute__((constructor)) static void keepMainThread(void) { CLinuxKeepMainThread(); }

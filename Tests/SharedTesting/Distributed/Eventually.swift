internal import Glibc

/// Calls a condition until it is true or the timeout has passed.
package func eventually(_ limit: Duration = TestTimeout.hang, _ isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = SuspendingClock.now + limit
    while SuspendingClock.now < deadline {
        if try isSo() { return true }
        usleep(500)
    }
    return try isSo()
}

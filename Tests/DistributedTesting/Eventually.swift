internal import Glibc

/// Looks until it is so, for a limit.
package func eventually(_ limit: Duration = TestLimit.hang, _ isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try isSo() { return true }
        usleep(500)
    }
    return try isSo()
}

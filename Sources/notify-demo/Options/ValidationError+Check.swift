import ArgumentParser

extension ValidationError {
    /// Turns any error of a check of arguments into a usage error.
    static func check(_ body: () throws -> Void) throws {
        do { try body() } catch { throw ValidationError("\(error)") }
    }
}

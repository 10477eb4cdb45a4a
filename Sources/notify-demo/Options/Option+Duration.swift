import ArgumentParser
import DeliveryDiagnostics

extension Option where Value == ElapsedTime? {
    /// A duration with a unit.
    init(duration help: String) {
        self.init(
            parsing: .unconditional, help: ArgumentHelp(help, valueName: "duration"),
            transform: ElapsedTime.init(argument:))
    }
}

extension Option where Value == ElapsedTime {
    /// A duration with a unit, and its default.
    init(wrappedValue: ElapsedTime, duration help: String) {
        self.init(
            wrappedValue: wrappedValue, parsing: .unconditional,
            help: ArgumentHelp(
                "\(help) (default: \(ElapsedTime.exact(wrappedValue.nanoseconds)))", valueName: "duration"),
            transform: ElapsedTime.init(argument:))
    }
}

extension ElapsedTime {
    fileprivate init(argument: String) throws {
        guard let time = ElapsedTime(argument) else {
            throw ValidationError(
                Double(argument) == nil
                    ? "a duration is a number and a unit, such as 200ms, 1.5s or 2m."
                    : "a duration needs a unit: \(argument)ms, or \(argument)s.")
        }
        self = time
    }
}

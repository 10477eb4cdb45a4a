internal import ArgumentParser
internal import DeliveryDiagnostics

extension ElapsedTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { description }
}

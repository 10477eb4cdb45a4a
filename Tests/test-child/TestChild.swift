import Glibc

/// Programs that the tests run: the first argument names the group, the second the program.
protocol TestChild {
    func run() throws
}

@main
enum Main {
    static func main() throws {
        // It may crash.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        let arguments = CommandLine.arguments
        let program: (any TestChild)? =
            switch arguments.count == 3 ? arguments[1] : "" {
            case "delivery": DeliveryChild(rawValue: arguments[2])
            case "ending": EndingChild(rawValue: arguments[2])
            case "recording": RecordingChild(rawValue: arguments[2])
            default: nil
            }
        guard let program else { fatalError("no such program: \(arguments)") }
        try program.run()
    }
}

// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

func example(_ name: String, _ library: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: library + ["ThreadedNotifications"], path: "Sources/Examples/\(name)",
        swiftSettings: strict)
}

let package = Package(
    name: "ThreadedNotifications",
    products: [
        .library(name: "ThreadedNotifications", targets: ["ThreadedNotifications"]),
        .library(name: "PostingQueues", targets: ["PostingQueues"]),
        .library(name: "RunLoopIntegration", targets: ["RunLoopIntegration"]),
        .library(name: "AsyncMain", targets: ["AsyncMain"]),
        .library(name: "DistributedNotifications", targets: ["DistributedNotifications"]),
        .library(name: "NotificationCompatibility", targets: ["NotificationCompatibility"]),
        .library(name: "NotificationServer", targets: ["NotificationServer"]),
        .library(name: "DeliveryRecording", targets: ["DeliveryRecording"]),
        .library(name: "notification-recorder", type: .dynamic, targets: ["notification-recorder"]),
        .executable(name: "notification-server", targets: ["notification-server"]),
        .executable(name: "notify-demo", targets: ["notify-demo"]),
        .executable(name: "notify-bench", targets: ["notify-bench"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        // The libraries and the server.
        .target(name: "CLinux"),
        .target(name: "CRecorderInterface"),
        .target(
            name: "ThreadedNotifications", dependencies: ["CLinux", "CRecorderInterface"], swiftSettings: strict),
        .target(name: "PostingQueues", dependencies: ["ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "RunLoopIntegration", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(name: "AsyncMain"),
        .target(
            name: "DistributedNotifications", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "NotificationCompatibility",
            dependencies: ["DistributedNotifications", "PostingQueues", "ThreadedNotifications"],
            swiftSettings: strict),
        .target(
            name: "NotificationServer", dependencies: ["CLinux", "DistributedNotifications", "ThreadedNotifications"],
            swiftSettings: strict),
        .executableTarget(
            name: "notification-server", dependencies: ["DistributedNotifications", "NotificationServer"],
            swiftSettings: strict),
        .target(name: "CDeliveryRecorder", dependencies: ["CRecorderInterface"]),
        .target(
            name: "notification-recorder", dependencies: ["CDeliveryRecorder", "CRecorderInterface"],
            // The library is preloaded into any program, and must not bring Swift's libraries with it.
            linkerSettings: [.unsafeFlags(["-enable-experimental-feature", "Embedded"])]),
        .target(name: "TerminalText", swiftSettings: strict),
        .target(
            name: "DeliveryRecording",
            dependencies: [
                "CDeliveryRecorder", "CRecorderInterface", "TerminalText", "ThreadedNotifications", systemPackage,
            ],
            swiftSettings: strict),

        // The command line.
        .target(name: "ChildProcesses", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "DeliveryDiagnostics",
            dependencies: [
                "DeliveryRecording", "TerminalText", "ThreadedNotifications", systemPackage,
            ], swiftSettings: strict),
        .target(
            name: "Scenarios",
            dependencies: [
                "CDeliveryRecorder", "CRecorderInterface", "ChildProcesses", "DeliveryDiagnostics", "DeliveryRecording",
                "DistributedNotifications", "PostingQueues", "TerminalText", "ThreadedNotifications",
            ], swiftSettings: strict),
        .executableTarget(
            name: "notify-demo",
            dependencies: [
                "CLinux", "ChildProcesses", "DeliveryDiagnostics", "DeliveryRecording", "DistributedNotifications",
                "NotificationServer", "Scenarios", "TerminalText", "ThreadedNotifications",
                argumentParser, systemPackage,
            ], swiftSettings: strict),

        // The benchmarks.
        .target(name: "CControl", path: "Sources/Benchmarks/CControl"),
        .executableTarget(
            name: "notify-bench",
            dependencies: [
                "CControl", "DeliveryDiagnostics", "DistributedNotifications", "NotificationServer", "PostingQueues",
                "TerminalText", "ThreadedNotifications", argumentParser, systemPackage,
            ], path: "Sources/Benchmarks/notify-bench", swiftSettings: strict),

        // The example programs of the documents.
        example("kitchen"),
        example("window"),
        // No test target depends on it: its AsyncMain would be linked into the tests, some of which need a main thread
        // that ends. A build of the tests builds all targets.
        example("station", "AsyncMain"),

        // What the tests share, and the programs that they run.
        .target(
            name: "SharedTesting",
            dependencies: [
                "CLinux", "ChildProcesses", "DistributedNotifications", "NotificationServer", "ThreadedNotifications",
            ], path: "Tests/SharedTesting", swiftSettings: strict),
        .executableTarget(
            name: "test-child",
            dependencies: ["CLinux", "CRecorderInterface", "PostingQueues", "ThreadedNotifications"],
            path: "Tests/test-child", swiftSettings: strict),
        // Without this package's libraries.
        .executableTarget(name: "foundation-child", path: "Tests/foundation-child", swiftSettings: strict),
        // Nothing may depend on it either.
        .executableTarget(
            name: "async-main-child", dependencies: ["AsyncMain", "ThreadedNotifications"],
            path: "Tests/async-main-child", swiftSettings: strict),

        // The tests.
        .testTarget(
            name: "ThreadedNotificationsTests",
            dependencies: [
                "CDeliveryRecorder", "CLinux", "CRecorderInterface", "ChildProcesses", "PostingQueues",
                "RunLoopIntegration", "SharedTesting", "ThreadedNotifications", "test-child",
            ], swiftSettings: strict),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: [
                "CLinux", "DistributedNotifications", "NotificationCompatibility", "NotificationServer",
                "PostingQueues", "SharedTesting", "ThreadedNotifications", "notification-server",
            ], swiftSettings: strict),
        .testTarget(
            name: "DeliveryDiagnosticsTests",
            dependencies: [
                "DeliveryDiagnostics", "DeliveryRecording", "PostingQueues", "SharedTesting", "TerminalText",
                "ThreadedNotifications",
            ], swiftSettings: strict),
        .testTarget(
            name: "NotifyDemoTests",
            dependencies: [
                "CControl", "ChildProcesses", "DeliveryDiagnostics", "DeliveryRecording", "DistributedNotifications",
                "NotificationServer", "Scenarios", "SharedTesting", "TerminalText", "ThreadedNotifications",
                "foundation-child", "kitchen", "notification-server", "notify-bench", "notify-demo", "test-child",
                argumentParser, systemPackage,
            ], swiftSettings: strict),
        .testTarget(
            name: "DocumentsTests",
            dependencies: [
                "ChildProcesses", "DeliveryRecording", "DistributedNotifications", "NotificationCompatibility",
                "NotificationServer", "PostingQueues", "RunLoopIntegration", "SharedTesting", "ThreadedNotifications",
                "kitchen", "notification-server", "notify-bench", "notify-demo", "window",
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// The bridge to other machines. Its packages take longer to build than all else here, most of it BoringSSL: nobody who
// does not ask for the bridge fetches or builds them. BRIDGE=1 is the bridge without TLS, BRIDGE=tls the one with it.
if let bridge = Context.environment["BRIDGE"], ["1", "tls"].contains(bridge) {
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ]
    let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
    let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    var network = ["NIOCore", "NIOPosix"].map { Target.Dependency.product(name: $0, package: "swift-nio") }
    var settings = strict
    if bridge == "tls" {
        package.dependencies.append(.package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"))
        network.append(.product(name: "NIOSSL", package: "swift-nio-ssl"))
        settings.append(.define("BRIDGE_TLS"))
    }
    package.products.append(.executable(name: "notification-bridge", targets: ["notification-bridge"]))
    package.targets += [
        .target(name: "NATSClient", dependencies: network, swiftSettings: settings),
        .target(
            name: "NotificationBridge",
            dependencies: network + [
                "CLinux", "DistributedNotifications", "NATSClient", "ThreadedNotifications", logging, serviceLifecycle,
            ], swiftSettings: settings),
        .executableTarget(
            name: "notification-bridge",
            dependencies: [
                "ChildProcesses", "DistributedNotifications", "NATSClient", "NotificationBridge", "TerminalText",
                "ThreadedNotifications", argumentParser, logging, serviceLifecycle,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: settings),
        .testTarget(
            name: "NATSClientTests",
            dependencies: network + ["ChildProcesses", "NATSClient", "Scenarios", "SharedTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "NotificationBridgeTests",
            dependencies: network + [
                "ChildProcesses", "DistributedNotifications", "NATSClient", "NotificationBridge", "NotificationServer",
                "Scenarios", "SharedTesting", "ThreadedNotifications", "notification-bridge", "notification-server",
                logging, serviceLifecycle,
            ], swiftSettings: settings),
    ]
}

// Scripts/test.sh sets it, and looks for memory that only an optimized server keeps. The core stays as it is: its tests
// read messages that only a debug build has.
if Context.environment["OPTIMIZED_SERVER"] != nil {
    for target in package.targets where ["DistributedNotifications", "NotificationServer"].contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O"]))
    }
}

// Scripts/test.sh sets it for a sanitizer: the test targets to build, without the tests of values that no threads
// share. Without the tests of the distributed center, its libraries are not needed.
if let sanitized = Context.environment["SANITIZED"]?.split(separator: " ").map(String.init) {
    /// Not for a sanitizer: values that one thread uses; copies of a process with several threads, in which the thread
    /// sanitizer does not work; memory, of which it uses much itself; messages with which an optimized library does not
    /// stop the program.
    var excluded = [
        "ThreadedNotificationsTests": [
            "Center/ForkTests.swift", "Center/LeakTests.swift", "Center/MainActorMessageTests.swift",
            "Center/MatchingTests.swift", "Center/StoppedProgramTests.swift", "Foundation",
            "PostingQueues/ExpectedPostings.swift", "PostingQueues/PostingRunTests.swift",
            "PostingQueues/PostingSenderTests.swift", "PostingQueues/RandomRunLoop.swift",
            "PostingQueues/RandomRunLoopTests.swift",
            "RunLoopIntegration/AsyncMainTests.swift", "ThreadIdentityTests.swift",
        ],
        "DistributedNotificationsTests": [
            "DistributedErrorTests.swift", "PropertyList", "RulesArticleTests.swift", "ServerDirectoryTests.swift",
            "Socket", "Wire", "Server/Faults", "Server/Routing", "Server/ServerLimitsTests.swift",
            "Server/ServerStatusTests.swift", "Server/Serving", "Server/Starting",
        ],
    ]
    var unneeded: Set<String> = []
    if !sanitized.contains("DistributedNotificationsTests") {
        excluded["SharedTesting"] = ["Distributed"]
        unneeded = ["DistributedNotifications", "NotificationServer"]
    }
    var needed = Set(sanitized)
    var count = 0
    while count < needed.count {
        count = needed.count
        for target in package.targets where needed.contains(target.name) {
            target.dependencies.removeAll {
                if case .byNameItem(let name, _) = $0 { unneeded.contains(name) } else { false }
            }
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
    // The thread sanitizer sees what a library does with its arrays and dictionaries only if it is optimized.
    let optimized = ["ThreadedNotifications", "PostingQueues", "RunLoopIntegration", "NotificationCompatibility"]
    for target in package.targets {
        target.exclude += excluded[target.name] ?? []
        if optimized.contains(target.name) { target.swiftSettings?.append(.unsafeFlags(["-O"])) }
    }
}

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
        .target(name: "AsyncMain", dependencies: ["CLinux"]),
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
                "CDeliveryRecorder", "CLinux", "CRecorderInterface", "TerminalText", "ThreadedNotifications",
                systemPackage,
            ],
            swiftSettings: strict),

        // The command line.
        .target(name: "ChildProcesses", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "DeliveryDiagnostics",
            dependencies: [
                "CLinux", "DeliveryRecording", "DistributedNotifications", "TerminalText", "ThreadedNotifications",
                systemPackage,
            ], swiftSettings: strict),
        .target(
            name: "Scenarios",
            dependencies: [
                "ChildProcesses", "DeliveryDiagnostics", "DeliveryRecording", "DistributedNotifications",
                "NotificationServer", "PostingQueues", "TerminalText", "ThreadedNotifications",
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
        .target(
            name: "DeliveryBenchmarks",
            dependencies: [
                "CControl", "CLinux", "ChildProcesses", "DeliveryDiagnostics", "DistributedNotifications",
                "PostingQueues", "TerminalText", "ThreadedNotifications",
            ], path: "Sources/Benchmarks/DeliveryBenchmarks", swiftSettings: strict),
        .executableTarget(
            name: "notify-bench",
            dependencies: [
                "DeliveryBenchmarks", "DeliveryDiagnostics", "NotificationServer", "TerminalText", argumentParser,
                systemPackage,
            ], path: "Sources/Benchmarks/notify-bench", swiftSettings: strict),

        // The example programs of the documents.
        .executableTarget(
            name: "kitchen", dependencies: ["ThreadedNotifications"], path: "Sources/Examples/kitchen",
            swiftSettings: strict),
        .executableTarget(
            name: "window", dependencies: ["ThreadedNotifications"], path: "Sources/Examples/window",
            swiftSettings: strict),
        // No test target depends on it: its AsyncMain would be linked into the tests, some of which need a main thread
        // that ends. A build of the tests builds all targets.
        .executableTarget(
            name: "station", dependencies: ["AsyncMain", "ThreadedNotifications"], path: "Sources/Examples/station",
            swiftSettings: strict),

        // The tests.
        .target(
            name: "SharedTesting", dependencies: ["CLinux", "ChildProcesses", "ThreadedNotifications"],
            path: "Tests/SharedTesting", swiftSettings: strict),
        .target(
            name: "RecordingTesting", dependencies: ["DeliveryRecording", "ThreadedNotifications"],
            path: "Tests/RecordingTesting", swiftSettings: strict),
        .executableTarget(
            name: "delivery-child", dependencies: ["CLinux", "PostingQueues", "ThreadedNotifications"],
            path: "Tests/delivery-child", swiftSettings: strict),
        .testTarget(
            name: "ThreadedNotificationsTests",
            dependencies: [
                "CLinux", "ChildProcesses", "PostingQueues", "SharedTesting", "ThreadedNotifications",
                "delivery-child",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PostingQueuesTests",
            dependencies: ["CLinux", "PostingQueues", "SharedTesting", "ThreadedNotifications"],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopIntegrationTests",
            dependencies: [
                "CLinux", "ChildProcesses", "PostingQueues", "RunLoopIntegration", "SharedTesting",
                "ThreadedNotifications",
            ], swiftSettings: strict),
        .target(
            name: "DistributedTesting",
            dependencies: [
                "CLinux", "DistributedNotifications", "NotificationServer", "SharedTesting", "ThreadedNotifications",
            ], path: "Tests/DistributedTesting", swiftSettings: strict),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: [
                "CLinux", "DistributedNotifications", "DistributedTesting", "NotificationServer", "SharedTesting",
                "ThreadedNotifications", "notification-server",
            ], swiftSettings: strict),
        .testTarget(
            name: "NotificationCompatibilityTests",
            dependencies: [
                "DistributedTesting", "NotificationCompatibility", "PostingQueues", "SharedTesting",
                "notification-server",
            ], swiftSettings: strict),
        .testTarget(
            name: "NotificationServerTests",
            dependencies: [
                "CLinux", "DistributedNotifications", "DistributedTesting", "NotificationServer", "SharedTesting",
                "ThreadedNotifications", "notification-server",
            ], swiftSettings: strict),
        .testTarget(
            name: "CDeliveryRecorderTests",
            dependencies: ["CDeliveryRecorder", "CRecorderInterface", "SharedTesting", "ThreadedNotifications"],
            swiftSettings: strict),
        .testTarget(
            name: "DeliveryRecordingTests",
            dependencies: [
                "DeliveryRecording", "PostingQueues", "RecordingTesting", "SharedTesting", "ThreadedNotifications",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DeliveryDiagnosticsTests",
            dependencies: [
                "DeliveryDiagnostics", "DeliveryRecording", "RecordingTesting", "SharedTesting", "TerminalText",
                "ThreadedNotifications",
            ], swiftSettings: strict),
        .testTarget(
            name: "TerminalTextTests", dependencies: ["SharedTesting", "TerminalText"], swiftSettings: strict),
        .testTarget(
            name: "ChildProcessesTests", dependencies: ["ChildProcesses", "SharedTesting"], swiftSettings: strict),
        .testTarget(
            name: "ScenariosTests",
            dependencies: [
                "ChildProcesses", "DeliveryRecording", "DistributedNotifications", "Scenarios", "SharedTesting",
                "ThreadedNotifications", "notify-demo",
            ], swiftSettings: strict),
        .testTarget(
            name: "PlatformExaminationTests",
            dependencies: ["ChildProcesses", "SharedTesting", "ThreadedNotifications"], swiftSettings: strict),
        .testTarget(
            name: "DeliveryBenchmarksTests",
            dependencies: [
                "CControl", "ChildProcesses", "DeliveryBenchmarks", "DeliveryDiagnostics",
                "DistributedNotifications", "SharedTesting", "ThreadedNotifications", "notification-server",
                "notify-bench", systemPackage,
            ], swiftSettings: strict),
        .executableTarget(name: "foundation-child", path: "Tests/foundation-child", swiftSettings: strict),
        .executableTarget(
            name: "ending-child", dependencies: ["ThreadedNotifications"], path: "Tests/ending-child",
            swiftSettings: strict),
        .executableTarget(
            name: "recording-child", dependencies: ["DeliveryRecording", "ThreadedNotifications"],
            path: "Tests/recording-child", swiftSettings: strict),
        .testTarget(
            name: "NotifyDemoTests",
            dependencies: [
                "ChildProcesses", "DeliveryDiagnostics", "DeliveryRecording", "DistributedNotifications",
                "NotificationServer", "Scenarios", "SharedTesting", "TerminalText", "ThreadedNotifications",
                "ending-child", "foundation-child", "kitchen", "notification-server", "notify-demo", "recording-child",
                argumentParser, systemPackage,
            ], swiftSettings: strict),
        // Nothing may depend on it either.
        .executableTarget(
            name: "async-main-child", dependencies: ["AsyncMain", "ThreadedNotifications"],
            path: "Tests/async-main-child", swiftSettings: strict),
        .testTarget(
            name: "AsyncMainTests", dependencies: ["ChildProcesses", "SharedTesting"], swiftSettings: strict),
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

// Scripts/test.sh sets it for a sanitizer: the libraries, and the tests of what their threads share.
if Context.environment["SANITIZED"] != nil {
    /// Not for a sanitizer: values that one thread uses; copies of a process with several threads, in which the thread
    /// sanitizer does not work; messages with which an optimized library does not stop the program.
    let excluded = [
        "CDeliveryRecorderTests": ["LineTests.swift"],
        "ThreadedNotificationsTests": [
            "Center/ForkTests.swift", "Center/StoppedProgramTests.swift", "Observers/ObserverRegistryTests.swift",
            "Observers/ObserverStateTests.swift", "Platform/EpollSetTests.swift", "Platform/TimeoutSourceTests.swift",
            "Waiting/WaitGraphTests.swift",
        ],
        "PostingQueuesTests": ["CoalescingBufferTests.swift"],
        "RunLoopIntegrationTests": [],
        "DistributedNotificationsTests": [
            "DistributedErrorTests.swift", "PropertyList", "RulesArticleTests.swift", "ServerDirectoryTests.swift",
            "Socket", "Wire",
        ],
        "NotificationCompatibilityTests": [],
        "NotificationServerTests": ["Faults", "Routing", "ServerLimitsTests.swift", "Serving", "Starting"],
    ]
    var needed = Set(excluded.keys)
    var count = 0
    while count < needed.count {
        count = needed.count
        for target in package.targets where needed.contains(target.name) {
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

// swift-tools-version: 6.2

// The libraries and the tests of what their threads share, without the command line, so that the build for a sanitizer
// is short. `Scripts/test.sh` runs it. `Sources` and `Tests` are links to those of the package.

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Optimized, because the thread sanitizer sees what a library does with its arrays and dictionaries only then.
let optimized = strict + [.unsafeFlags(["-O"])]
let libraries: [Target.Dependency] = [
    "CLinux", "DistributedNotifications", "NotificationServer", "ThreadedNotifications",
]

/// Tests of values that one thread uses, and others that are not for a sanitizer.
let values = [
    // A copy of a process with several threads, in which the thread sanitizer does not work.
    "Center/ForkTests.swift",
    // An optimised library stops the program without the message that they look for.
    "Center/StoppedProgramTests.swift",
    "Observers/ObserverRegistryTests.swift", "Observers/ObserverStateTests.swift", "Platform/EpollSetTests.swift",
    "Platform/TimeoutSourceTests.swift", "Waiting/WaitGraphTests.swift",
]

let package = Package(
    name: "ThreadedNotifications",
    targets: [
        .target(name: "CLinux"),
        .target(name: "CRecorderInterface"),
        .target(
            name: "ThreadedNotifications", dependencies: ["CLinux", "CRecorderInterface"], swiftSettings: optimized),
        .target(name: "PostingQueues", dependencies: ["ThreadedNotifications"], swiftSettings: optimized),
        .target(
            name: "RunLoopIntegration", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: optimized),
        .target(
            name: "DistributedNotifications", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "NotificationServer", dependencies: ["CLinux", "DistributedNotifications", "ThreadedNotifications"],
            swiftSettings: strict),
        .target(
            name: "NotificationCompatibility",
            dependencies: ["DistributedNotifications", "PostingQueues", "ThreadedNotifications"],
            swiftSettings: optimized),
        .executableTarget(
            name: "notification-server", dependencies: ["DistributedNotifications", "NotificationServer"],
            swiftSettings: strict),
        .target(name: "CDeliveryRecorder", dependencies: ["CRecorderInterface"]),
        .target(name: "ChildProcesses", dependencies: ["CLinux", "ThreadedNotifications"], swiftSettings: strict),
        .target(
            name: "SharedTesting", dependencies: ["CLinux", "ChildProcesses", "ThreadedNotifications"],
            path: "Tests/SharedTesting", swiftSettings: strict),
        .target(
            name: "DistributedTesting", dependencies: libraries + ["SharedTesting"], path: "Tests/DistributedTesting",
            swiftSettings: strict),
        .testTarget(
            name: "CDeliveryRecorderTests",
            dependencies: ["CDeliveryRecorder", "CRecorderInterface", "SharedTesting", "ThreadedNotifications"],
            exclude: ["LineTests.swift"], swiftSettings: strict),
        .executableTarget(
            name: "delivery-child", dependencies: ["CLinux", "PostingQueues", "ThreadedNotifications"],
            path: "Tests/delivery-child", swiftSettings: strict),
        .testTarget(
            name: "ThreadedNotificationsTests",
            dependencies: [
                "CLinux", "ChildProcesses", "PostingQueues", "SharedTesting", "ThreadedNotifications", "delivery-child",
            ], exclude: values, swiftSettings: strict),
        .testTarget(
            name: "PostingQueuesTests",
            dependencies: ["CLinux", "PostingQueues", "SharedTesting", "ThreadedNotifications"],
            exclude: ["CoalescingBufferTests.swift"],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopIntegrationTests",
            dependencies: [
                "CLinux", "ChildProcesses", "PostingQueues", "RunLoopIntegration", "SharedTesting",
                "ThreadedNotifications",
            ], swiftSettings: strict),
        .testTarget(
            name: "DistributedNotificationsTests", dependencies: libraries + ["DistributedTesting", "SharedTesting"],
            path: "Tests/DistributedNotificationsTests/Client", swiftSettings: strict),
        .testTarget(
            name: "NotificationCompatibilityTests",
            dependencies: [
                "DistributedTesting", "NotificationCompatibility", "PostingQueues", "SharedTesting",
                "notification-server",
            ], swiftSettings: strict),
        .testTarget(
            name: "NotificationServerTests",
            dependencies: libraries + ["DistributedTesting", "SharedTesting", "notification-server"],
            path: "Tests/NotificationServerTests/Threads", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

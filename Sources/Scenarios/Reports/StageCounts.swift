package import DeliveryRecording

/// The number of records of each stage.
package struct StageCounts {
    private var counts: [DeliveryStage: Int] = [:]

    package init(_ records: [DeliveryRecord]) {
        for record in records { counts[record.stage, default: 0] += 1 }
    }

    package subscript(stage: DeliveryStage) -> Int { counts[stage] ?? 0 }
}

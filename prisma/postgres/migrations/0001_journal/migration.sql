-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "Run" (
    "key" SERIAL NOT NULL,
    "runId" TEXT NOT NULL,
    "root" TEXT NOT NULL,
    "parent" TEXT,
    "parentId" TEXT,
    "home" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "failure" TEXT NOT NULL DEFAULT '',
    "tags" TEXT NOT NULL DEFAULT '',
    "search" TEXT NOT NULL DEFAULT '',
    "createdAt" BIGINT NOT NULL,
    "updatedAt" BIGINT NOT NULL,
    "headSeq" INTEGER NOT NULL,
    "epoch" INTEGER NOT NULL,
    "lastBatch" INTEGER NOT NULL,
    "lease" TEXT,
    "consoleSeq" INTEGER NOT NULL DEFAULT 0,
    "plannedMachine" TEXT,
    "state" TEXT NOT NULL,
    "wanted" TEXT,
    "wantedAt" BIGINT,

    CONSTRAINT "Run_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Event" (
    "run" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "kind" INTEGER NOT NULL,
    "body" TEXT NOT NULL,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("run","seq")
);

-- CreateTable
CREATE TABLE "Step" (
    "run" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "stepKey" TEXT NOT NULL,
    "startedSeq" INTEGER NOT NULL,
    "record" TEXT NOT NULL,

    CONSTRAINT "Step_pkey" PRIMARY KEY ("run","stepKey","line")
);

-- CreateTable
CREATE TABLE "Ledger" (
    "root" TEXT NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "Ledger_pkey" PRIMARY KEY ("root")
);

-- CreateTable
CREATE TABLE "Effect" (
    "root" TEXT NOT NULL,
    "stepKey" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "intentSeq" INTEGER NOT NULL,
    "watchedIn" TEXT,
    "record" TEXT NOT NULL,

    CONSTRAINT "Effect_pkey" PRIMARY KEY ("root","stepKey","generation")
);

-- CreateTable
CREATE TABLE "Question" (
    "run" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "questionId" TEXT NOT NULL,
    "askedSeq" INTEGER NOT NULL,
    "record" TEXT NOT NULL,

    CONSTRAINT "Question_pkey" PRIMARY KEY ("run","questionId","line")
);

-- CreateTable
CREATE TABLE "Checkpoint" (
    "run" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "record" TEXT NOT NULL,

    CONSTRAINT "Checkpoint_pkey" PRIMARY KEY ("run","seq")
);

-- CreateTable
CREATE TABLE "Snapshot" (
    "run" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "state" TEXT NOT NULL,

    CONSTRAINT "Snapshot_pkey" PRIMARY KEY ("run","seq")
);

-- CreateTable
CREATE TABLE "Batch" (
    "run" INTEGER NOT NULL,
    "epoch" INTEGER NOT NULL,
    "batch" INTEGER NOT NULL,
    "digest" BYTEA NOT NULL,
    "firstSeq" INTEGER NOT NULL,
    "headSeq" INTEGER NOT NULL,
    "seenSeq" INTEGER NOT NULL,

    CONSTRAINT "Batch_pkey" PRIMARY KEY ("run","epoch","batch")
);

-- CreateTable
CREATE TABLE "Answer" (
    "key" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "requestDigest" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "at" BIGINT NOT NULL,

    CONSTRAINT "Answer_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Payload" (
    "sha256" BYTEA NOT NULL,
    "codec" INTEGER NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "Payload_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "Loose" (
    "sha256" BYTEA NOT NULL,
    "at" BIGINT NOT NULL,

    CONSTRAINT "Loose_pkey" PRIMARY KEY ("sha256")
);

-- CreateTable
CREATE TABLE "Machine" (
    "digest" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "declaration" TEXT NOT NULL,

    CONSTRAINT "Machine_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "Worker" (
    "workerId" TEXT NOT NULL,
    "agents" TEXT NOT NULL,
    "firstSeenAt" BIGINT NOT NULL,
    "seenAt" BIGINT NOT NULL,

    CONSTRAINT "Worker_pkey" PRIMARY KEY ("workerId")
);

-- CreateIndex
CREATE UNIQUE INDEX "Run_runId_key" ON "Run"("runId");

-- CreateIndex
CREATE INDEX "Run_status_updatedAt_idx" ON "Run"("status", "updatedAt");

-- CreateIndex
CREATE INDEX "Run_updatedAt_idx" ON "Run"("updatedAt");

-- CreateIndex
CREATE INDEX "Run_createdAt_idx" ON "Run"("createdAt");

-- CreateIndex
CREATE INDEX "Run_root_idx" ON "Run"("root");

-- CreateIndex
CREATE INDEX "Run_parentId_createdAt_key_idx" ON "Run"("parentId", "createdAt", "key");

-- CreateIndex
CREATE INDEX "Run_wanted_wantedAt_key_idx" ON "Run"("wanted", "wantedAt", "key");

-- CreateIndex
CREATE INDEX "Event_run_kind_seq_idx" ON "Event"("run", "kind", "seq");

-- CreateIndex
CREATE INDEX "Step_run_startedSeq_idx" ON "Step"("run", "startedSeq");

-- CreateIndex
CREATE INDEX "Effect_watchedIn_idx" ON "Effect"("watchedIn");

-- CreateIndex
CREATE INDEX "Worker_seenAt_idx" ON "Worker"("seenAt");

-- AlterTable
ALTER TABLE "Run" ADD COLUMN "edition" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "Part" (
    "run" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "at" BIGINT NOT NULL,
    "body" BLOB NOT NULL,

    PRIMARY KEY ("run", "name")
) WITHOUT ROWID;

-- CreateTable
CREATE TABLE "Share" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "secret" BLOB NOT NULL,
    "runId" TEXT NOT NULL,
    "createdBy" TEXT NOT NULL,
    "createdAt" BIGINT NOT NULL,
    "expiresAt" BIGINT NOT NULL,
    "revokedAt" BIGINT,
    "revokedBy" TEXT
);

-- CreateTable
CREATE TABLE "Audit" (
    "key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "at" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "runId" TEXT NOT NULL DEFAULT '',
    "seq" INTEGER NOT NULL DEFAULT 0,
    "search" TEXT NOT NULL DEFAULT '',
    "record" TEXT NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "Share_secret_key" ON "Share"("secret");

-- CreateIndex
CREATE INDEX "Share_runId_idx" ON "Share"("runId");

-- CreateIndex
CREATE INDEX "Audit_at_idx" ON "Audit"("at");

-- CreateIndex
CREATE INDEX "Audit_runId_seq_idx" ON "Audit"("runId", "seq");
